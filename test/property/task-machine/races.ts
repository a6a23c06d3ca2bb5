import type { StoredArtifact } from "@holdfast/core";
import fc from "fast-check";
import { abandonStep, again, cancelStep, createStep, creation, reply, updateStep, type Creation } from "./client-steps.ts";
import { ANY as NEWEST, Race, type Step } from "./step.ts";
import { bindStep, claimStep, plan, reapStep, settleStep, stageStep, workerSteps } from "./worker-steps.ts";
import { settlement, stagedResult } from "./values.ts";

/**
 * Pairs that want the same row, on the task or attempt that the sequence is busy with. A renewal is never one of them: it may answer
 * `busy`, and then nothing is known.
 */
export function races(artifact: StoredArtifact): fc.Arbitrary<Race> {
  const task = fc.constantFrom(NEWEST, NEWEST, NEWEST + 1);
  const twins = creation.chain((choice) => {
    const twin = fc.record({ waiter: fc.constantFrom<Creation["waiter"]>("client", "call"), minutes: fc.constantFrom(10, 30) });
    return twin.map((changes) => [createStep(choice), createStep({ ...choice, ...changes })] as const);
  });
  const repeats = fc.tuple(again, again);
  const onTask = task.chain((index) => fc.tuple(taskStep(index), taskStep(index)));
  const onAttempt = fc.tuple(attemptStep(artifact), attemptStep(artifact));
  const onBoth = fc.tuple(attemptStep(artifact), taskStep(NEWEST));
  const onAddress = fc.tuple(again, taskStep(NEWEST));
  const pairs = fc.oneof(twins, repeats, onTask, onTask, onAttempt, onBoth, onAddress).map((steps) => new Race(steps));
  return fc.oneof({ weight: 7, arbitrary: pairs }, { weight: 1, arbitrary: bindRaces(artifact) });
}

/** Two plans of one attempt, or of the newest two. */
function bindRaces(artifact: StoredArtifact): fc.Arbitrary<Race> {
  const bind = (attempt: number) => plan(artifact).map((bound) => bindStep({ attempt, plan: bound }));
  const newWrite = createStep({
    owner: 0,
    workspace: 2,
    operation: { name: "test.write", version: 1, effect: "write", pool: "default" },
    text: "a",
    minutes: 30,
    waiter: "client",
    isAddressed: false,
    key: null,
    answers: [],
  });
  const claimed = claimStep({ task: NEWEST, worker: 0, leaseMs: 3_600_000, inReach: true });
  return fc
    .constantFrom(0, 0, 1)
    .chain((second) => fc.tuple(bind(0), bind(second)))
    .map((steps) => new Race(steps, [newWrite, claimed]));
}

function taskStep(task: number): fc.Arbitrary<Step> {
  const replies = fc.array(reply, { maxLength: 3 });
  return fc.oneof(
    replies.map((given) => updateStep({ task, by: null, replies: given })),
    replies.map((given) => updateStep({ task, by: null, replies: given })),
    fc.constant(cancelStep({ task, by: null })),
    fc.constant(abandonStep({ task, by: null })),
    fc.constantFrom(0, 1, 2).map((worker) => claimStep({ task, worker, leaseMs: 3_600_000, inReach: true })),
  );
}

function attemptStep(artifact: StoredArtifact): fc.Arbitrary<Step> {
  return fc.oneof(
    settlement(artifact).map((ending) => settleStep({ attempt: 0, settlement: ending })),
    settlement(artifact).map((ending) => settleStep({ attempt: 0, settlement: ending })),
    stagedResult(artifact).map((result) => stageStep({ attempt: 0, result })),
    fc.constant(reapStep(100)),
    workerSteps(artifact).checkpoint,
    workerSteps(artifact).move,
  );
}

import {
  JOURNAL_STATES,
  OPEN_JOURNAL_STATES,
  type AttemptRef,
  type ClaimedAttempt,
  type CreateOutcome,
  type Effect,
  type JournalPlan,
  type JournalState,
  type SealedValue,
  type Settlement,
  type StagedResult,
  type StoredArtifact,
  type Task,
  type TaskProgress,
} from "@holdfast/core";
import fc from "fast-check";
import { addressedRead, noteTask, requestOf, whichTask, type Creation } from "./client-steps.ts";
import { answerOf } from "./comparison.ts";
import type { Pair } from "./pair.ts";
import type { Store } from "./store.ts";
import { reach, workers } from "./places.ts";
import { ANY, attemptAt, Step, STRAY, taskAt } from "./step.ts";
import { anyText, progress, sealedValue, settlement, stagedResult } from "./values.ts";

/** What workers do. A lease of no length has lapsed by the next step; the others last for an hour of the sequence. */

const whichQueued = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 2, ANY, STRAY);
const whichAttempt = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, ANY, ANY + 1, ANY + 3, STRAY);
const leaseMs = fc.constantFrom(0, 3_600_000, 3_600_000);

export function workerSteps(artifact: StoredArtifact) {
  const inReach = fc.constantFrom(true, true, true, true, true, false);
  const worker = fc.nat({ max: workers.length - 1 });
  const attempt = whichAttempt;
  const staging = stagedResult(artifact).map((result): Leaving => ({ kind: "stage", result }));
  const leaves = fc.constantFrom<Work["leaves"]>("each", "last");
  const openFrom = fc.subarray([...JOURNAL_STATES], { minLength: 1 });
  return {
    claim: fc.record({ task: whichTask, worker, leaseMs, inReach }).map(claimStep),
    renew: fc.record({ attempt, leaseMs, progress: fc.option(progress()) }).map(renewStep),
    checkpoint: fc.record({ attempt, value: sealedValue() }).map(checkpointStep),
    step: fc.record({ attempt, key: fc.constantFrom("a", "b"), value: sealedValue() }).map(stepStep),
    stage: fc.record({ attempt, result: stagedResult(artifact) }).map(stageStep),
    unstage: attempt.map(unstageStep),
    settle: fc.record({ attempt, settlement: settlement(artifact) }).map(settleStep),
    work: fc
      .record({
        task: whichQueued,
        leaving: fc.option(leftover(artifact)),
        ending: fc.option(settlement(artifact), { freq: 4 }),
        times: fc.constantFrom(1, 1, 1, 2, 3),
        leaves,
      })
      .map(workStep),
    publish: fc
      .record({
        task: whichQueued,
        leaving: staging,
        ending: fc.constant<Settlement>({ kind: "published" }),
        times: fc.constant(1),
        leaves,
      })
      .map(workStep),
    serve: fc.record({ read: addressedRead, result: stagedResult(artifact) }).map(serveStep),
    bind: fc.record({ attempt, plan: plan(artifact) }).map(bindStep),
    move: fc.record({ attempt, from: openFrom, to: fc.constantFrom(...JOURNAL_STATES), recovered: fc.boolean() }).map(moveStep),
    read: fc.record({ attempt }).map(readStep),
    reap: fc.constantFrom(1, 2, 100).map(reapStep),
    lose: fc.record({ task: whichQueued, times: fc.constantFrom(1, 2, 3) }).map(loseStep),
    expire: fc.constantFrom(1, 100).map(expireStep),
    endUnanswered: fc.constantFrom(1, 100).map(endUnansweredStep),
  };
}

export function claimStep(choice: { task: number; worker: number; leaseMs: number; inReach: boolean }): Step {
  return new Step(`claim(${JSON.stringify(choice)})`, (pair) => {
    const taskId = taskAt(pair, choice.task, isQueued).id;
    const workerId = workers[choice.worker]!;
    const roots = choice.inReach ? reach.roots : ["elsewhere"];
    return {
      act: (store) => store.claim({ taskId, workerId, leaseMs: choice.leaseMs, reach: { ...reach, roots } }),
      note: (answer) => noteAttempt(pair, answer),
    };
  });
}

/** What an attempt leaves for the next one. */
type Leaving =
  | { readonly kind: "checkpoint" | "step"; readonly value: SealedValue }
  | { readonly kind: "stage"; readonly result: Omit<StagedResult, "taskId"> }
  | { readonly kind: "plan"; readonly plan: JournalPlan; readonly moves: readonly JournalState[] };

interface Work {
  readonly task: number;
  readonly leaving: Leaving | null;
  /** Null for an attempt that goes on. */
  readonly ending: Settlement | null;
  /** How many attempts in a row end so, and which of them leave something. */
  readonly times: number;
  readonly leaves: "each" | "last";
}

/** Whole attempts, or the beginning of one, in one step: what takes several of them in a row is reached by few steps then. */
function workStep(choice: Work): Step {
  return new Step(`work(${JSON.stringify(choice, withBytes)})`, (pair) => {
    const { id: taskId, operation } = taskAt(pair, choice.task, isQueued);
    const attempt = async (store: Store, leaving: Leaving | null): Promise<Worked> => {
      const claimed = await store.claim({ taskId, workerId: workers[0]!, leaseMs: 3_600_000, reach });
      if (claimed === null) return { claimed, left: null, ended: null };
      const left = leaving === null ? null : await leave(store, claimed, operation.effect, leaving);
      return { claimed, left, ended: choice.ending === null ? null : await answerOf(store.settle(claimed, choice.ending)) };
    };
    const act = async (store: Store): Promise<readonly Worked[]> => {
      const worked: Worked[] = [];
      for (let time = 1; time <= choice.times; time += 1)
        worked.push(await attempt(store, choice.leaves === "each" || time === choice.times ? choice.leaving : null));
      return worked;
    };
    const note = (answer: unknown): void => {
      for (const { claimed } of answer as readonly Worked[]) noteAttempt(pair, claimed);
    };
    return { act, note };
  });
}

interface Worked {
  readonly claimed: ClaimedAttempt | null;
  readonly left: unknown;
  readonly ended: unknown;
}

interface Served {
  readonly read: Creation;
  readonly result: Omit<StagedResult, "taskId">;
}

/** A read from its request to its published result, so that the next identical one may find that. */
function serveStep(choice: Served): Step {
  return new Step(`serve(${JSON.stringify(choice)})`, (pair) => {
    const request = requestOf(choice.read);
    const act = async (store: Store): Promise<unknown> => {
      const outcome = await store.create(request);
      const claimed = await store.claim({ taskId: request.id, workerId: workers[0]!, leaseMs: 3_600_000, reach });
      if (claimed === null) return { outcome };
      await store.stage(claimed, choice.result);
      return { outcome, claimed, ended: await store.settle(claimed, { kind: "published" }) };
    };
    return { act, note: (answer) => noteTask(pair, request, (answer as { outcome: CreateOutcome }).outcome) };
  });
}

async function leave(store: Store, attempt: AttemptRef, effect: Effect, leaving: Leaving): Promise<unknown> {
  switch (leaving.kind) {
    case "checkpoint":
      return await store.saveCheckpoint(attempt, leaving.value);
    case "step":
      return await store.saveStep(attempt, { ...leaving.value, key: "a" });
    case "stage":
      return await store.stage(attempt, leaving.result);
    case "plan": {
      if (effect !== "write") return null;
      const answers: unknown[] = [await store.bind(attempt, leaving.plan)];
      for (const to of leaving.moves) answers.push(await store.move(attempt, { from: OPEN_JOURNAL_STATES, to, recovered: true }));
      return answers;
    }
  }
}

function isQueued({ status, attempt }: Task): boolean {
  return status === "working" && attempt === null;
}

function noteAttempt(pair: Pair, answer: unknown): void {
  const claimed = answer as ClaimedAttempt | null;
  if (claimed !== null) pair.attempts.push({ taskId: claimed.taskId, workerId: claimed.workerId, token: claimed.token });
}

function renewStep(choice: { attempt: number; leaseMs: number; progress: TaskProgress | null }): Step {
  return withAttempt("renew", choice, (store, attempt) => store.renew([{ attempt, progress: choice.progress }], choice.leaseMs));
}

function checkpointStep(choice: { attempt: number; value: SealedValue }): Step {
  return withAttempt("checkpoint", choice, (store, attempt) => store.saveCheckpoint(attempt, choice.value));
}

function stepStep(choice: { attempt: number; key: string; value: SealedValue }): Step {
  return withAttempt("step", choice, (store, attempt) => store.saveStep(attempt, { ...choice.value, key: choice.key }));
}

export function stageStep(choice: { attempt: number; result: Omit<StagedResult, "taskId"> }): Step {
  return withAttempt("stage", choice, (store, attempt) => store.stage(attempt, choice.result));
}

function unstageStep(attempt: number): Step {
  return withAttempt("unstage", { attempt }, (store, held) => store.unstage(held));
}

export function settleStep(choice: { attempt: number; settlement: Settlement }): Step {
  return withAttempt("settle", choice, (store, attempt) => store.settle(attempt, choice.settlement));
}

/** Only attempts of a write bind a plan. */
export function bindStep(choice: { attempt: number; plan: JournalPlan }): Step {
  return new Step(`bind(${JSON.stringify(choice, withBytes)})`, (pair) => {
    const attempt = attemptAt(pair, choice.attempt, "write");
    const isWrite = pair.tasks.some(({ id, operation }) => id === attempt.taskId && operation.effect === "write");
    const binding = isWrite ? attempt : attemptAt(pair, STRAY);
    return { act: (store) => store.bind(binding, choice.plan) };
  });
}

export function moveStep(choice: { attempt: number; from: readonly JournalState[]; to: JournalState; recovered: boolean }): Step {
  return withAttempt("move", choice, (store, attempt) => store.move(attempt, choice), "write");
}

function readStep(choice: { attempt: number }): Step {
  return withAttempt("read", choice, (store, attempt) => store.read(attempt), "write");
}

/** Attempts in a row whose leases have lapsed when they are granted. */
function loseStep(choice: { task: number; times: number }): Step {
  return new Step(`lose(${JSON.stringify(choice)})`, (pair) => {
    const taskId = taskAt(pair, choice.task, isQueued).id;
    const act = async (store: Store): Promise<unknown> => {
      const lost: unknown[] = [];
      for (let time = 0; time < choice.times; time += 1) {
        await store.claim({ taskId, workerId: workers[0]!, leaseMs: -60_000, reach });
        lost.push((await store.reap(100)).toSorted());
      }
      return lost;
    };
    return { act };
  });
}

export function reapStep(limit: number): Step {
  return new Step(`reap(${limit})`, () => ({ act: async (store) => (await store.reap(limit)).toSorted() }));
}

function expireStep(limit: number): Step {
  return new Step(`expire(${limit})`, () => ({ act: (store) => store.expire(limit) }));
}

function endUnansweredStep(limit: number): Step {
  return new Step(`endUnanswered(${limit})`, () => ({ act: async (store) => (await store.endUnanswered(limit)).toSorted() }));
}

function withAttempt(
  name: string,
  choice: { attempt: number },
  act: (store: Store, attempt: AttemptRef) => Promise<unknown>,
  effect?: Effect,
): Step {
  return new Step(`${name}(${JSON.stringify(choice)})`, (pair) => {
    const attempt = attemptAt(pair, choice.attempt, effect);
    return { act: (store) => act(store, attempt) };
  });
}

function leftover(artifact: StoredArtifact): fc.Arbitrary<Leaving> {
  const moves = fc.constantFrom<readonly JournalState[]>(
    [],
    ["applying"],
    ["applying", "committed"],
    ["applying", "rolling_back"],
    ["applying", "rolling_back", "restored"],
    ["applying", "unresolved"],
  );
  return fc.oneof(
    fc.record({ kind: fc.constantFrom("checkpoint" as const, "step" as const), value: sealedValue() }),
    fc.record({ kind: fc.constant("stage" as const), result: stagedResult(artifact) }),
    fc.record({ kind: fc.constant("plan" as const), plan: plan(artifact), moves }),
  );
}

/** The seal of a plan is over all of it: with the same seal, it is the same plan. */
export function plan(artifact: StoredArtifact): fc.Arbitrary<JournalPlan> {
  const version = fc.option(fc.uint8Array({ maxLength: 4 }).map((bytes) => ({ sha256: "ab".repeat(32), bytes })));
  const files = fc.array(fc.record({ path: anyText(), before: version, after: version }), { maxLength: 2 });
  return fc
    .record({
      files: fc.oneof(fc.constant([]), files),
      resultText: fc.constant('{ "content": [] }'),
      artifacts: fc.constantFrom([], [artifact]),
    })
    .map((content) => ({ ...content, seal: `over ${JSON.stringify(content, withBytes)}` }));
}

function withBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}

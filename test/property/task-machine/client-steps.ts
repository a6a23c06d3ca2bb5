import { createHash, randomBytes } from "node:crypto";
import {
  ACTIONS,
  INPUT_METHODS,
  isTerminal,
  taskIdFrom,
  type CreateOutcome,
  type CreateTask,
  type Effect,
  type InputAnswer,
  type InputMethod,
  type InputRequest,
  type Task,
  type TaskId,
  type TaskRef,
} from "@holdfast/core";
import fc from "fast-check";
import type { Pair } from "./pair.ts";
import type { Move, Store } from "./store.ts";
import { ANY, principalAt, Step, STRAY, taskAt, workspaceAt } from "./step.ts";
import { methods, questionKeys } from "./values.ts";

/** What clients do. Strangers and stray ids are rare: a sequence is to get somewhere. */

const someone = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3);
/** Null for the owner, whoever that is. */
const by = fc.constantFrom(null, null, null, null, null, 0, 1, 2, 3);
export const whichTask = fc.constantFrom(0, 0, 0, 0, 0, 1, 2, ANY, ANY + 1, STRAY);

export interface Creation {
  readonly owner: number;
  readonly workspace: number;
  readonly operation: CreateTask["operation"];
  readonly text: string;
  readonly minutes: number;
  readonly waiter: "client" | "call";
  readonly isAddressed: boolean;
  readonly key: string | null;
  readonly answers: readonly InputAnswer[];
}

export const addressedRead = creationWith({ isAddressed: fc.constant(true), key: fc.constant(null), effects: ["read"] });

/** What may be asked for, each with few values, so that requests meet earlier ones. */
export const creation: fc.Arbitrary<Creation> = fc.oneof(
  { weight: 2, arbitrary: creationWith({ isAddressed: fc.constant(false), key: fc.constant(null) }) },
  {
    weight: 3,
    arbitrary: creationWith({ isAddressed: fc.boolean(), key: fc.constantFrom("k", "k", "k", "K"), effects: ["write", "write", "read"] }),
  },
  { weight: 3, arbitrary: addressedRead },
);

function creationWith(of: {
  isAddressed: fc.Arbitrary<boolean>;
  key: fc.Arbitrary<string | null>;
  effects?: readonly Effect[];
}): fc.Arbitrary<Creation> {
  return fc.record({
    owner: someone,
    workspace: fc.constantFrom(0, 0, 0, 0, 1, 2),
    operation: operationOf(of.effects ?? ["read", "write"]),
    text: fc.constantFrom("a", "a", "a", "a", "\u{1f600}"),
    minutes: fc.constantFrom(10, 30),
    waiter: fc.constantFrom("client", "call"),
    isAddressed: of.isAddressed,
    key: of.key,
    answers: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.uniqueArray(inputAnswer(), { selector: ({ key }) => key, maxLength: 2 }) },
    ),
  });
}

/** What an operation does is settled by its name. */
function operationOf(effects: readonly Effect[]): fc.Arbitrary<CreateTask["operation"]> {
  const choice = fc.record({
    effect: fc.constantFrom(...effects),
    isOther: fc.constantFrom(false, false, false, false, true),
    version: fc.constantFrom(1, 1, 1, 1, 2),
  });
  return choice.map(({ effect, isOther, version }) => ({
    name: isOther ? `test.${effect}_other` : `test.${effect}`,
    version,
    effect,
    pool: "default",
  }));
}

/** To the question of this number among the open ones, with its method or another one; null to whatever key. */
interface Reply extends InputAnswer {
  readonly question: number | null;
  readonly isOfKind: boolean;
}

export const reply: fc.Arbitrary<Reply> = fc
  .record({ question: fc.constantFrom(0, 0, 0, 1, 2, null), isOfKind: fc.constantFrom(true, true, true, false) })
  .chain((aim) => inputAnswer().map((answer) => ({ ...aim, ...answer })));

export const create = creation.map(createStep);
export const again = fc
  .record({
    earlier: fc.constantFrom(0, 0, 0, 1, 2),
    waiter: fc.constantFrom<CreateTask["waiter"]>("client", "call"),
    minutes: fc.constantFrom(10, 30),
    twist: fc.constantFrom(null, null, null, null, null, "input" as const, "version" as const, "workspace" as const),
  })
  .map(againStep);
export const update = fc.record({ task: whichTask, by, replies: fc.array(reply, { maxLength: 3 }) }).map(updateStep);
export const cancel = fc.record({ task: whichTask, by }).map(cancelStep);
export const abandon = fc.record({ task: whichTask, by }).map(abandonStep);
export const find = fc.record({ task: whichTask, by }).map(findStep);

/** Of the grants in the first workspace, where most happens. */
export const permit = fc
  .record({ grant: fc.constantFrom(0, 0, 1, 2), actions: fc.subarray([...ACTIONS]) })
  .map((choice) => new Step(`permit(${JSON.stringify(choice)})`, () => ({ act: (store) => store.permit(choice.grant, choice.actions) })));

function inputAnswer(): fc.Arbitrary<InputAnswer> {
  return fc.record({ key: questionKeys, method: methods, answer: fc.record({ n: fc.nat({ max: 3 }) }) });
}

export function createStep(choice: Creation): Step {
  return new Step(`create(${JSON.stringify(choice)})`, (pair) => {
    return submit(pair, requestOf(choice));
  });
}

function submit(pair: Pair, request: CreateTask): Move {
  return {
    act: (store) => store.create(request),
    note: (answer) => noteTask(pair, request, answer as CreateOutcome),
  };
}

export function noteTask(pair: Pair, request: CreateTask, outcome: CreateOutcome): void {
  if (outcome.kind === "created") pair.tasks.push(request);
}

function digest(...parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function newTaskId(): TaskId {
  return taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) });
}

export function requestOf({ owner, workspace, operation, text, minutes, waiter, isAddressed, key, answers }: Creation): CreateTask {
  const principal = principalAt(owner);
  const workspaceId = workspaceAt(workspace).id;
  return {
    id: newTaskId(),
    principal,
    workspaceId,
    operation,
    input: { text },
    ttlMs: minutes * 60_000,
    pollIntervalMs: 1_000,
    waiter,
    contentAddress: isAddressed && operation.effect === "read" ? digest(principal.subject, workspaceId, operation, text) : null,
    receipt: key === null ? null : { key, inputSha256: digest(text), seal: `of ${key}` },
    answers,
  };
}

interface Again {
  /** How many tasks before the newest one. */
  readonly earlier: number;
  readonly waiter: CreateTask["waiter"];
  readonly minutes: number;
  /** What is not the same this time, its key and address apart. */
  readonly twist: "input" | "version" | "workspace" | null;
}

/** A request that was made before, from a client that may have lost the answer. */
export function againStep(choice: Again): Step {
  return new Step(`again(${JSON.stringify(choice)})`, (pair) => {
    const earlier = pair.tasks.at(-1 - (choice.earlier % Math.max(1, pair.tasks.length)));
    if (earlier === undefined) return { act: async () => null };
    const request: CreateTask = {
      ...earlier,
      id: newTaskId(),
      waiter: choice.waiter,
      ttlMs: choice.minutes * 60_000,
      ...twisted(earlier, choice.twist),
    };
    return submit(pair, request);
  });
}

function twisted({ operation, receipt }: CreateTask, twist: Again["twist"]): Partial<CreateTask> {
  switch (twist) {
    case null:
      return {};
    case "input":
      return { receipt: receipt === null ? null : { ...receipt, inputSha256: digest("another") }, contentAddress: null };
    case "version":
      return { operation: { ...operation, version: operation.version + 1 }, contentAddress: null };
    case "workspace":
      return { workspaceId: workspaceAt(1).id, contentAddress: null };
  }
}

export function updateStep(choice: { task: number; by: number | null; replies: readonly Reply[] }): Step {
  return onTask(
    "update",
    choice,
    ({ status }) => status === "input_required",
    (store, ref, task) => {
      const open = Object.entries(task?.inputRequests ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return store.update(
        ref,
        choice.replies.map((given) => answerTo(open, given)),
      );
    },
  );
}

function answerTo(open: readonly [string, InputRequest][], { question, isOfKind, key, method, answer }: Reply): InputAnswer {
  const aimed = question === null ? undefined : open[question % Math.max(1, open.length)];
  return aimed === undefined
    ? { key, method, answer }
    : { key: aimed[0], method: isOfKind ? aimed[1].method : another(aimed[1].method), answer };
}

function another(method: InputMethod): InputMethod {
  return INPUT_METHODS.find((other) => other !== method)!;
}

export function cancelStep(choice: { task: number; by: number | null }): Step {
  return onTask("cancel", choice, isOpen, (store, ref) => store.requestCancellation(ref));
}

export function abandonStep(choice: { task: number; by: number | null }): Step {
  return onTask("abandon", choice, isOpen, (store, ref) => store.abandon(ref));
}

function findStep(choice: { task: number; by: number | null }): Step {
  return onTask(
    "find",
    choice,
    () => true,
    (store, ref) => store.find(ref),
  );
}

function isOpen({ status }: Task): boolean {
  return !isTerminal(status);
}

function onTask(
  name: string,
  choice: { task: number; by: number | null },
  fits: (task: Task) => boolean,
  act: (store: Store, ref: TaskRef, task: Task | null) => Promise<unknown>,
): Step {
  return new Step(`${name}(${JSON.stringify(choice)})`, (pair) => {
    const { id, principal } = taskAt(pair, choice.task, fits);
    const ref = { id, principal: choice.by === null ? principal : principalAt(choice.by) };
    const task = pair.viewOf(id);
    return { act: (store) => act(store, ref, task) };
  });
}

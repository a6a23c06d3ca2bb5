import { createHash, randomBytes } from "node:crypto";
import {
  isTerminal,
  taskIdFrom,
  type CreateOutcome,
  type CreateTask,
  type InputAnswer,
  type InputRequest,
  type Task,
  type TaskRef,
} from "@holdfast/core";
import fc from "fast-check";
import type { Store } from "./pair.ts";
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

/** What may be asked for, each with few values, so that requests meet earlier ones. */
export const creation: fc.Arbitrary<Creation> = fc.oneof(
  { weight: 2, arbitrary: creationWith({ isAddressed: fc.constant(false), key: fc.constant(null) }) },
  {
    weight: 3,
    arbitrary: creationWith({ isAddressed: fc.boolean(), key: fc.constantFrom("k", "k", "k", "K"), effects: ["write", "write", "read"] }),
  },
  { weight: 3, arbitrary: creationWith({ isAddressed: fc.constant(true), key: fc.constant(null), effects: ["read"] }) },
);

function creationWith(of: {
  isAddressed: fc.Arbitrary<boolean>;
  key: fc.Arbitrary<string | null>;
  effects?: readonly CreateTask["operation"]["effect"][];
}): fc.Arbitrary<Creation> {
  return fc.record({
    owner: someone,
    workspace: fc.constantFrom(0, 0, 0, 0, 1, 2),
    operation: fc.record({
      name: fc.constantFrom("test.echo", "test.echo", "test.echo", "test.echo", "test.other"),
      version: fc.constantFrom(1, 1, 1, 1, 2),
      effect: fc.constantFrom(...(of.effects ?? (["read", "write"] as const))),
      pool: fc.constant("default"),
    }),
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

/** To the question of this number among the open ones, with its method or another one; null to whatever key. */
interface Reply extends InputAnswer {
  readonly question: number | null;
  readonly isOfKind: boolean;
}

export const reply: fc.Arbitrary<Reply> = fc
  .record({ question: fc.constantFrom(0, 0, 0, 1, 2, null), isOfKind: fc.constantFrom(true, true, true, false) })
  .chain((aim) => inputAnswer().map((answer) => ({ ...aim, ...answer })));

export const create = creation.map(createStep);
export const update = fc.record({ task: whichTask, by, replies: fc.array(reply, { maxLength: 3 }) }).map(updateStep);
export const cancel = fc.record({ task: whichTask, by }).map(cancelStep);
export const abandon = fc.record({ task: whichTask, by }).map(abandonStep);
export const find = fc.record({ task: whichTask, by: fc.nat({ max: 3 }) }).map(findStep);

function inputAnswer(): fc.Arbitrary<InputAnswer> {
  return fc.record({ key: questionKeys, method: methods, answer: fc.record({ n: fc.nat({ max: 3 }) }) });
}

export function createStep(choice: Creation): Step {
  return new Step(`create(${JSON.stringify(choice)})`, (pair) => {
    const request = requestOf(choice);
    return {
      act: (store) => store.create(request),
      note: (answer) => {
        if ((answer as CreateOutcome).kind === "created") pair.tasks.push(request);
      },
    };
  });
}

function requestOf({ owner, workspace, operation, text, minutes, waiter, isAddressed, key, answers }: Creation): CreateTask {
  const principal = principalAt(owner);
  const workspaceId = workspaceAt(workspace).id;
  const digest = (...parts: readonly unknown[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return {
    id: taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) }),
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
  return aimed === undefined ? { key, method, answer } : { key: aimed[0], method: isOfKind ? aimed[1].method : method, answer };
}

export function cancelStep(choice: { task: number; by: number | null }): Step {
  return onTask("cancel", choice, isOpen, (store, ref) => store.requestCancellation(ref));
}

export function abandonStep(choice: { task: number; by: number | null }): Step {
  return onTask("abandon", choice, isOpen, (store, ref) => store.abandon(ref));
}

function findStep(choice: { task: number; by: number }): Step {
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

import { randomBytes, randomUUID } from "node:crypto";
import {
  parseWorkspaceId,
  taskIdFrom,
  workerIdSchema,
  type AttemptLedger,
  type AttemptRef,
  type CreateTask,
  type Principal,
  type Settlement,
  type Task,
  type TaskId,
  type TaskManager,
} from "@holdfast/core";
import { createMemoryTaskManager } from "@holdfast/core/memory";
import { addGrant, addWorkspace, createPostgresAttemptLedger, createPostgresTaskManager, openDatabase, type Database } from "@holdfast/db";
import { testDatabase, type TestDatabase } from "@holdfast/db/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

/** Sequences in an ordinary run; HOLDFAST_MODEL_RUNS asks for more. */
const runs = Number(process.env["HOLDFAST_MODEL_RUNS"] ?? 100);

type Store = TaskManager & AttemptLedger;

/** The two stores side by side, and what a sequence has met in them so far. */
interface Pair {
  readonly model: Store;
  readonly real: Store;
  readonly tasks: { readonly id: TaskId; readonly owner: Principal; modelSeen: Task | null; realSeen: Task | null }[];
  /** Every attempt that was ever granted: old tokens keep trying. */
  readonly attempts: AttemptRef[];
  /** Lets both clocks move, so that "later" and "changed" mean something. */
  tick(): void;
}

/** Stands for a task or an attempt that the sequence never had. */
const STRAY = -1;
const issuer = "https://issuer.example";
const workspaceId = parseWorkspaceId("alpha") ?? expect.fail("not a workspace id");
const workers = Array.from({ length: 3 }, () => workerIdSchema.parse(randomUUID()));
const reach = { pools: ["default"], roots: ["mods"], operations: ["test.echo"] };
const principals: readonly Principal[] = [
  { issuer, subject: "alice", groups: [], scopes: [] },
  { issuer, subject: "bob", groups: [], scopes: [] },
  { issuer, subject: "carl", groups: ["modders"], scopes: [] },
  { issuer, subject: "eve", groups: [], scopes: [] },
];
const grants = [
  { workspaceId, issuer, memberKind: "principal", member: "alice", actions: ["read", "run", "write"], expiresAt: null },
  { workspaceId, issuer, memberKind: "principal", member: "bob", actions: ["read", "run"], expiresAt: null },
  { workspaceId, issuer, memberKind: "group", member: "modders", actions: ["read", "write"], expiresAt: null },
] as const;

let stored: TestDatabase;
let database: Database;
let real: Store;
beforeAll(async () => {
  stored = await testDatabase();
  database = openDatabase({ url: stored.url, applicationName: "model", maxConnections: 4, onError: () => undefined });
  real = { ...createPostgresTaskManager(database), ...createPostgresAttemptLedger(database) };
  await addWorkspace(database, { id: workspaceId, root: "mods", path: "alpha" });
  for (const grant of grants) await addGrant(database, grant);
});
afterAll(async () => {
  await database.close();
  await stored.drop();
});

test("Postgres and the in-memory store answer every sequence of events alike", { timeout: 30_000 + runs * 1_000 }, async () => {
  const property = fc.asyncProperty(fc.commands(steps(), { maxCommands: 50, size: "max" }), async (sequence) => {
    const pair = openPair();
    try {
      await createStep({ owner: 0, effect: "read", text: "" }).run(pair);
      await fc.asyncModelRun(() => ({ model: pair, real: pair }), sequence);
    } finally {
      // The next sequence must not reap what this one leaves running.
      for (const attempt of pair.attempts) await pair.real.settle(attempt, { kind: "cancelled" });
    }
  });
  await fc.assert(property, { numRuns: runs });
  expect(await real.reap(1)).toEqual([]);
});

function openPair(): Pair {
  const offset = 1_700_000_000_000;
  let ticks = 0;
  const model = createMemoryTaskManager({
    now: () => offset + ticks,
    newReference: randomUUID,
    workspaces: [{ id: workspaceId, root: "mods", path: "alpha" }],
    grants,
  });
  const tick = (): void => {
    ticks += 1;
    // The driver cuts times to milliseconds, so the next statement must not fall into the same one.
    const next = performance.now() + 1;
    while (performance.now() < next);
  };
  return { model, real, tasks: [], attempts: [], tick };
}

/** Runs on the model, then on Postgres; the answers must agree, and then all that the owners see. */
class Step implements fc.AsyncCommand<Pair, Pair> {
  readonly name: string;
  readonly prepare: (pair: Pair) => (store: Store) => Promise<unknown>;

  constructor(name: string, prepare: (pair: Pair) => (store: Store) => Promise<unknown>) {
    this.name = name;
    this.prepare = prepare;
  }

  check(): boolean {
    return true;
  }

  async run(pair: Pair): Promise<void> {
    pair.tick();
    await compareAnswers(pair, this.prepare(pair));
    for (const task of pair.tasks) await compareViews(pair, task);
  }

  toString(): string {
    return this.name;
  }
}

/** Weighted so that sequences stay with one or two tasks and drive them deep into their lives; strangers and strays are rare. */
function steps(): fc.Arbitrary<Step>[] {
  const task = fc.constantFrom(0, 0, 0, 0, 1, 2, STRAY);
  const attempt = fc.constantFrom(0, 0, 0, 0, 0, 1, 2, 4, STRAY);
  const leaseMs = fc.constantFrom(0, 3_600_000);
  const effect = fc.constantFrom("read" as const, "write" as const);
  const create = fc.record({ owner: fc.constantFrom(0, 0, 0, 1, 2, 3), effect, text: fc.string() }).map(createStep);
  const inReach = fc.constantFrom(true, true, true, true, true, false);
  const claim = fc.record({ task, worker: fc.nat({ max: workers.length - 1 }), leaseMs, inReach }).map(claimStep);
  const renew = fc.record({ attempt, leaseMs, progress: fc.option(progress()) }).map(renewStep);
  const settle = fc.record({ attempt, settlement: settlement() }).map(settleStep);
  const pass = fc.record({ task, settlement: settlement() }).map(passStep);
  const cancel = fc.record({ task, by: fc.constantFrom(null, null, 0, 1, 2, 3) }).map(cancelStep);
  const reap = fc.constantFrom(1, 2, 100).map(reapStep);
  return [create, create, claim, claim, claim, claim, renew, renew, settle, settle, settle, reap, reap, reap, pass, pass, pass, cancel];
}

function createStep({ owner, effect, text }: { owner: number; effect: "read" | "write"; text: string }): Step {
  return new Step(`create(${JSON.stringify({ owner, effect, text })})`, (pair) => {
    const principal = at(principals, owner);
    const request: CreateTask = {
      id: taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) }),
      principal,
      workspaceId,
      operation: { name: "test.echo", version: 1, effect, pool: "default" },
      input: { text: text.replaceAll("\u0000", "") },
      ttlMs: 3_600_000,
      pollIntervalMs: 1_000,
    };
    return async (store) => {
      const outcome = await store.create(request);
      if (outcome.kind === "created" && store === pair.real)
        pair.tasks.push({ id: request.id, owner: principal, modelSeen: null, realSeen: outcome.task });
      return outcome;
    };
  });
}

function claimStep(choice: { task: number; worker: number; leaseMs: number; inReach: boolean }): Step {
  return new Step(`claim(${JSON.stringify(choice)})`, (pair) => {
    const taskId = taskAt(pair, choice.task).id;
    const workerId = at(workers, choice.worker);
    const roots = choice.inReach ? reach.roots : ["elsewhere"];
    return async (store) => {
      const claimed = await store.claim({ taskId, workerId, leaseMs: choice.leaseMs, reach: { ...reach, roots } });
      if (claimed !== null && store === pair.real) pair.attempts.push({ taskId, workerId, token: claimed.token });
      return claimed;
    };
  });
}

function renewStep(choice: { attempt: number; leaseMs: number; progress: Task["progress"] }): Step {
  return new Step(`renew(${JSON.stringify(choice)})`, (pair) => {
    const attempt = attemptAt(pair, choice.attempt);
    return (store) => store.renew([{ attempt, progress: choice.progress }], choice.leaseMs);
  });
}

function settleStep(choice: { attempt: number; settlement: Settlement }): Step {
  return new Step(`settle(${JSON.stringify(choice)})`, (pair) => {
    const attempt = attemptAt(pair, choice.attempt);
    return (store) => store.settle(attempt, choice.settlement);
  });
}

/** A whole attempt at once: the budget is spent only by several of them in a row. */
function passStep(choice: { task: number; settlement: Settlement }): Step {
  return new Step(`pass(${JSON.stringify(choice)})`, (pair) => {
    const taskId = taskAt(pair, choice.task).id;
    const workerId = at(workers, 0);
    return async (store) => {
      const claimed = await store.claim({ taskId, workerId, leaseMs: 3_600_000, reach });
      if (claimed === null) return null;
      if (store === pair.real) pair.attempts.push({ taskId, workerId, token: claimed.token });
      return [claimed, await store.settle(claimed, choice.settlement)];
    };
  });
}

function cancelStep(choice: { task: number; by: number | null }): Step {
  return new Step(`cancel(${JSON.stringify(choice)})`, (pair) => {
    const { id, owner } = taskAt(pair, choice.task);
    const asking = choice.by === null ? owner : at(principals, choice.by);
    return (store) => store.requestCancellation({ id, principal: asking });
  });
}

/** Leases of no length have lapsed by the next step; the others last longer than the test. */
function reapStep(limit: number): Step {
  return new Step(`reap(${limit})`, () => (store) => store.reap(limit));
}

function settlement(): fc.Arbitrary<Settlement> {
  const completed = anyText().map((text): Settlement => ({
    kind: "completed",
    result: { content: [{ type: "text", text }] },
    artifacts: [],
  }));
  const failed = fc.record({
    kind: fc.constant("failed" as const),
    code: fc.constantFrom("operation_crashed" as const, "operation_failed" as const),
    reference: fc.uuid(),
    detail: anyText(),
    retry: fc.constantFrom(true, true, true, false),
  });
  const interrupted = fc.record({ kind: fc.constant("interrupted" as const), detail: anyText() });
  const cancelled = fc.constant({ kind: "cancelled" as const });
  return fc.oneof(
    { weight: 1, arbitrary: completed },
    { weight: 4, arbitrary: failed },
    { weight: 2, arbitrary: interrupted },
    { weight: 1, arbitrary: cancelled },
  );
}

function progress() {
  // JSON has one zero.
  const amount = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  return fc.record({ value: amount, total: fc.option(amount), message: fc.option(anyText()) });
}

/** With NULs and halves of surrogate pairs, which workers may well send. */
function anyText(): fc.Arbitrary<string> {
  return fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
}

async function compareAnswers(pair: Pair, act: (store: Store) => Promise<unknown>): Promise<void> {
  const expected = await act(pair.model);
  expect(comparable(await act(pair.real))).toEqual(comparable(expected));
}

async function compareViews(pair: Pair, task: Pair["tasks"][number]): Promise<void> {
  const ref = { id: task.id, principal: task.owner };
  const [expected, actual] = [await pair.model.find(ref), await pair.real.find(ref)];
  expect(comparable(actual)).toEqual(comparable(expected));
  // When a task changed last is each store's own time, but they must agree on whether this step changed it.
  if (task.modelSeen !== null) {
    expect({ id: task.id, changed: isTouched(task.realSeen, actual) }).toEqual({
      id: task.id,
      changed: isTouched(task.modelSeen, expected),
    });
    expect(actual?.createdAt).toEqual(task.realSeen?.createdAt);
  }
  task.modelSeen = expected;
  task.realSeen = actual;
}

function isTouched(before: Task | null, after: Task | null): boolean {
  return before?.lastUpdatedAt.getTime() !== after?.lastUpdatedAt.getTime();
}

/** The answer without what each store chooses for itself: times, and the references of failures that it reports on its own. */
function comparable(value: unknown): unknown {
  if (value instanceof Date) return "a time";
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [key, comparable(member)]);
  const isLoss = members.some(([key, member]) => key === "code" && member === "worker_lost");
  return Object.fromEntries(members.map(([key, member]) => [key, isLoss && key === "reference" ? "a reference" : member]));
}

/** A task of the sequence, counted from the newest, or one that does not exist. */
function taskAt({ tasks }: Pair, index: number): { readonly id: TaskId; readonly owner: Principal } {
  const nowhere = { id: taskIdFrom({ unixMs: 0, random: new Uint8Array(10) }), owner: at(principals, 0) };
  return index === STRAY ? nowhere : (tasks.at(-1 - (index % tasks.length)) ?? nowhere);
}

/** An attempt of the sequence, counted from the newest, or one that nobody was granted. */
function attemptAt(pair: Pair, index: number): AttemptRef {
  const forged = { taskId: taskAt(pair, 0).id, token: 2, workerId: at(workers, 0) };
  return index === STRAY ? forged : (pair.attempts.at(-1 - (index % pair.attempts.length)) ?? forged);
}

function at<Item>(items: readonly Item[], index: number): Item {
  return items[index] ?? expect.fail(`there is no item ${index}`);
}

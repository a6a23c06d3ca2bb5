import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  DEFAULT_TTL_MS,
  isTerminal,
  parseWorkspaceId,
  POLL_INTERVAL_MS,
  taskIdFrom,
  toolResultSchema,
  type CreateTask,
  type JsonObject,
  type Operation,
  type Principal,
  type Task,
  type TaskId,
  type WorkspaceId,
  type TaskManager,
} from "@holdfast/core";
import { addGrant, addWorkspace, createPostgresTaskManager, openDatabase, type Database } from "@holdfast/db";
import { testDatabase } from "@holdfast/db/testing";
import { expectInvariants } from "./invariants.ts";

/** The root that the test workspace lies in, as workers name it. */
export const ROOT_NAME = "mods";
const HOSTILE_PACK = path.resolve(import.meta.dirname, "../fixtures/packs/hostile");
const DURABLE_PACK = path.resolve(import.meta.dirname, "../fixtures/packs/durable");
/** HOLDFAST_PACKS of its workers. */
export const TEST_PACKS = `${HOSTILE_PACK},${DURABLE_PACK}`;

/** A database with one workspace and somebody who may do everything in it. At its end, no rule that always holds is broken. */
export interface TaskWorld extends AsyncDisposable {
  readonly url: string;
  /** HOLDFAST_KEYS of all its workers. */
  readonly keys: string;
  readonly database: Database;
  readonly manager: TaskManager;
  readonly principal: Principal;
  readonly workspaceId: WorkspaceId;
  /** Folder of the root; the workspace `current` is its folder `mod`. */
  readonly root: string;
  /** Creates a task of the hostile pack, or of the one that the name of the operation begins with. */
  create(
    operation: string,
    input?: JsonObject,
    overrides?: Partial<Pick<Operation, "version" | "pool" | "effect">>,
    request?: Partial<Pick<CreateTask, "principal" | "contentAddress" | "answers">>,
  ): Promise<TaskId>;
  find(id: TaskId): Promise<Task>;
  cancel(id: TaskId): Promise<Task>;
  /** Waits until the task is as wished, and fails with what it is instead when it has not become so in time. */
  until(id: TaskId, wish: (task: Task) => boolean, withinMs: number): Promise<Task>;
  untilTerminal(id: TaskId, withinMs?: number): Promise<Task>;
  untilRunning(id: TaskId, withinMs?: number): Promise<void>;
  attempts(id: TaskId): Promise<readonly AttemptRow[]>;
  /** Kinds of the journal's entries, in order. */
  events(id: TaskId): Promise<readonly string[]>;
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Says that this test breaks the rule of a view in the schema `ops`, and why. */
  tolerate(invariant: string, reason: string): void;
}

export interface AttemptRow {
  readonly token: number;
  readonly workerId: string;
  readonly state: string;
  readonly errorCode: string | null;
  readonly detail: string | null;
}

export async function createTaskWorld(): Promise<TaskWorld> {
  await using cleanup = new AsyncDisposableStack();
  const { url, drop } = await testDatabase();
  cleanup.defer(drop);
  const root = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-root-")));
  cleanup.defer(() => rm(root, { recursive: true, force: true }));
  await mkdir(path.join(root, "mod"));
  const database = openDatabase({ url, applicationName: "holdfast-test", maxConnections: 4, onError: () => undefined });
  cleanup.defer(database.close);
  const workspaceId = parseWorkspaceId("current");
  if (workspaceId === null) throw new Error("the workspace has no usable name");
  const principal: Principal = { issuer: "https://issuer.test", subject: "tester", groups: [], scopes: [] };
  await addWorkspace(database, { id: workspaceId, root: ROOT_NAME, path: "mod" });
  const { issuer, subject: member } = principal;
  await addGrant(database, { workspaceId, issuer, memberKind: "principal", member, actions: ["read", "run", "write"], expiresAt: null });
  const manager = createPostgresTaskManager(database);

  const query: TaskWorld["query"] = async (text, values = []) =>
    (await database.pool.query<Record<string, unknown>>(text, [...values])).rows;

  async function found(answer: Promise<Task | null>): Promise<Task> {
    const task = await answer;
    if (task === null) throw new Error("the task is not found");
    return task;
  }
  const find = (id: TaskId) => found(manager.find({ id, principal }));
  const attempts: TaskWorld["attempts"] = async (id) => {
    const rows = await query(
      `select fencing_token as token, worker_id as "workerId", state, error_code as "errorCode", error_detail #>> '{}' as detail
       from holdfast.attempt where task_id = $1 order by fencing_token`,
      [id],
    );
    return rows as unknown as readonly AttemptRow[];
  };
  const until: TaskWorld["until"] = async (id, wish, withinMs) => {
    try {
      return await untilValue(() => find(id), wish, withinMs);
    } catch (error) {
      throw new Error(`the task is not as wished; its attempts: ${JSON.stringify(await attempts(id))}`, { cause: error });
    }
  };

  const tolerated = new Map<string, string>();
  cleanup.defer(() => expectInvariants(query, { tolerated }));

  const owned = cleanup.move();
  return {
    url,
    keys: `k1:${randomBytes(32).toString("base64url")}`,
    database,
    manager,
    principal,
    workspaceId,
    root,
    async create(operation, input = {}, overrides = {}, request = {}) {
      const id = taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) });
      const outcome = await manager.create({
        id,
        principal,
        workspaceId,
        operation: {
          name: operation.includes(".") ? operation : `hostile.${operation}`,
          version: 1,
          effect: "read",
          pool: "default",
          ...overrides,
        },
        input: { workspaceId, ...input },
        ttlMs: DEFAULT_TTL_MS,
        pollIntervalMs: POLL_INTERVAL_MS,
        waiter: "client",
        contentAddress: null,
        receipt: null,
        answers: [],
        ...request,
      });
      if (outcome.kind !== "created") throw new Error("the task was denied");
      return id;
    },
    find,
    cancel: (id) => found(manager.requestCancellation({ id, principal })),
    until,
    untilTerminal: (id, withinMs = 10_000) => until(id, ({ status }) => isTerminal(status), withinMs),
    async untilRunning(id, withinMs = 10_000) {
      const leased = () => query("select worker_id from holdfast.live_task where task_id = $1 and worker_id is not null", [id]);
      await untilValue(leased, (rows) => rows.length === 1, withinMs);
    },
    attempts,
    async events(id) {
      const rows = await query("select kind from holdfast.task_event where task_id = $1 order by id", [id]);
      return rows.map(({ kind }) => String(kind));
    },
    query,
    tolerate: (invariant, reason) => void tolerated.set(invariant, reason),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const LOOK_EVERY_MS = 25;

/** Looks until the value is as wished; rejects with the last one when the time is over. */
export async function untilValue<Value>(look: () => Promise<Value>, wish: (value: Value) => boolean, withinMs: number): Promise<Value> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await look();
    if (wish(value)) return value;
    if (performance.now() > deadline) throw new Error(`not as wished after ${withinMs} ms: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** The text of a task that was completed. */
export function textOf({ status, outcome }: Task): string {
  const parsed = outcome?.kind === "result" ? toolResultSchema.parse(outcome.result) : null;
  const [block] = parsed?.content ?? [];
  if (block?.type !== "text") throw new Error(`the task is ${status} with ${JSON.stringify(outcome)}`);
  return block.text;
}

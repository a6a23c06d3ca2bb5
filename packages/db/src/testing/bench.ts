import { randomBytes, randomUUID } from "node:crypto";
import {
  parseWorkspaceId,
  taskIdFrom,
  workerIdSchema,
  type AttemptLedger,
  type ClaimedAttempt,
  type CreateTask,
  type InputRequest,
  type InputRequests,
  type Principal,
  type Task,
  type TaskId,
  type TaskManager,
  type WorkerId,
  type WorkerReach,
  type WorkspaceId,
} from "@holdfast/core";
import { Client, type QueryResultRow } from "pg";
import { createPostgresAttemptLedger } from "../attempt-ledger.ts";
import { openDatabase, type Database } from "../pool.ts";
import { createPostgresTaskManager } from "../task-manager.ts";
import { addWorkspace } from "../writes/add-workspace.ts";
import { addGrant } from "../writes/change-grants.ts";
import { testDatabase } from "./index.ts";

/** A store with one workspace, `alpha`, in which `alice` may do everything; and a second session that sees all of it. */
export interface Bench extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  readonly manager: TaskManager;
  readonly ledger: AttemptLedger;
  /** A further pool, as another node has it. */
  open(): Database;
  /** A further session that may hold locks. */
  session(): Promise<Client>;
  sql<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Creates a task of alice. */
  createTask(changes?: Partial<CreateTask>): Promise<Task>;
  /** Claims for a fresh worker; throws when there is nothing to claim. */
  claim(taskId: TaskId, changes?: { workerId?: WorkerId; leaseMs?: number }): Promise<ClaimedAttempt>;
  /** Resolves when that many statements wait for a lock of another session. */
  whenBlocked(count: number): Promise<void>;
}

export const alpha = testWorkspace("alpha");
export const alice: Principal = { issuer: "https://issuer.example", subject: "alice", groups: [], scopes: [] };
export const reach: WorkerReach = { pools: ["default"], roots: ["mods"], operations: ["test.echo"] };

const DEADLINE_MS = 10_000;

export async function openBench(): Promise<Bench> {
  const stored = await testDatabase();
  const closers: (() => Promise<unknown>)[] = [];
  const open = (): Database => {
    const database = openDatabase({
      url: stored.url,
      applicationName: "bench",
      maxConnections: 8,
      onError: () => undefined,
    });
    closers.push(() => database.close());
    return database;
  };
  const session = async (): Promise<Client> => {
    const client = new Client({ connectionString: stored.url, application_name: "bench side", connectionTimeoutMillis: DEADLINE_MS });
    client.on("error", () => undefined);
    await client.connect();
    closers.push(() => client.end());
    return client;
  };
  const database = open();
  const observer = await session();
  const manager = createPostgresTaskManager(database);
  const ledger = createPostgresAttemptLedger(database);
  const sql = async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> =>
    (await observer.query<Row>(text, [...values])).rows;
  await addWorkspace(database, { id: alpha, root: "mods", path: "alpha" });
  await addGrant(database, { ...memberOf(alice), actions: ["read", "run", "write"], expiresAt: null });
  return {
    url: stored.url,
    database,
    manager,
    ledger,
    open,
    session,
    sql,
    createTask: async (changes) => {
      const outcome = await manager.create(taskRequest(changes));
      if (outcome.kind !== "created") throw new Error("the bench's task was denied");
      return outcome.task;
    },
    claim: async (taskId, { workerId = newWorkerId(), leaseMs = 60_000 } = {}) => {
      const claimed = await ledger.claim({ taskId, workerId, leaseMs, reach });
      if (claimed === null) throw new Error(`task ${taskId} cannot be claimed`);
      return claimed;
    },
    whenBlocked: async (count) => {
      const deadline = Date.now() + DEADLINE_MS;
      for (;;) {
        const blocked = await sql(
          "select from pg_stat_activity where application_name = 'bench' and wait_event_type = 'Lock' and datname = current_database()",
        );
        if (blocked.length === count) return;
        if (Date.now() > deadline) throw new Error(`${blocked.length} statements are blocked, expected ${count}`);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(closers.map((close) => close()));
      await stored.drop();
    },
  };
}

export function taskRequest(changes: Partial<CreateTask> = {}): CreateTask {
  return {
    id: newTaskId(),
    principal: alice,
    workspaceId: alpha,
    operation: { name: "test.echo", version: 1, effect: "read", pool: "default" },
    input: { text: "hello" },
    ttlMs: 3_600_000,
    pollIntervalMs: 1_000,
    waiter: "client",
    contentAddress: null,
    receipt: null,
    answers: [],
    ...changes,
  };
}

/** What makes a request one for a write with a key. The digest is that of no particular input. */
export function keyed(key: string, inputSha256: string = "ab".repeat(32)): Pick<CreateTask, "id" | "operation" | "receipt"> {
  return {
    id: newTaskId(),
    operation: { name: "test.echo", version: 1, effect: "write", pool: "default" },
    receipt: { key, inputSha256, seal: `seal of ${key}` },
  };
}

/** A task that waits for answers to these questions. */
export async function parkedTask(bench: Bench, requests: InputRequests, changes: Partial<CreateTask> = {}): Promise<Task> {
  const { id, principal = alice } = { ...(await bench.createTask(changes)), ...changes };
  await bench.ledger.settle(await bench.claim(id), { kind: "suspended", requests });
  const task = await bench.manager.find({ id, principal });
  if (task?.status !== "input_required") throw new Error("the task is not parked");
  return task;
}

/** A question for `parkedTask`. */
export function question(message: string): InputRequest {
  return { method: "elicitation/create", params: { message } };
}

/** Where a task stands and which of its questions are open, to be compared exactly. */
export function standing(task: Task | null) {
  return task === null ? null : { status: task.status, questions: Object.keys(task.inputRequests).toSorted() };
}

/** As `Promise.all` over so many calls; each gets its number. */
export async function atOnce<Answer>(count: number, call: (index: number) => Promise<Answer>): Promise<readonly Answer[]> {
  return await Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

export function memberOf(principal: Principal, workspaceId: WorkspaceId = alpha) {
  return { workspaceId, issuer: principal.issuer, memberKind: "principal" as const, member: principal.subject };
}

export function newTaskId(): TaskId {
  return taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) });
}

export function newWorkerId(): WorkerId {
  return workerIdSchema.parse(randomUUID());
}

export function testWorkspace(name: string): WorkspaceId {
  const id = parseWorkspaceId(name);
  if (id === null) throw new Error(`"${name}" is no workspace id`);
  return id;
}

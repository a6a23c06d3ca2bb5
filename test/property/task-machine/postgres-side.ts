import { randomBytes, randomUUID } from "node:crypto";
import { taskIdFrom, workerIdSchema, type Action, type StoredArtifact, type Task, type TaskRef } from "@holdfast/core";
import {
  addGrant,
  addWorkspace,
  createPostgresAttemptLedger,
  createPostgresTaskManager,
  createPostgresWriteJournal,
  createTaskReader,
  endUnanswered,
  expireTasks,
  openDatabase,
  removeGrant,
  storeArtifact,
  type Database,
} from "@holdfast/db";
import { testDatabase } from "@holdfast/db/testing";
import { expectInvariants } from "../../support/invariants.ts";
import { grants, principals, reach, workspaces } from "./places.ts";
import type { Store } from "./store.ts";

export interface Node {
  readonly store: Store;
  /** What the store's `find` answers, for many tasks at once. */
  read(ref: TaskRef): Promise<Task | null>;
}

/** Postgres as several nodes see it, each with connections of its own. */
export interface PostgresSide extends AsyncDisposable {
  readonly nodes: readonly Node[];
  /** An artifact that every result may link. */
  readonly artifact: StoredArtifact;
  /** Moves everything that happened so far into the past, as if this time had passed. */
  age(ms: number): Promise<void>;
  /** Rejects when the database breaks a rule that always holds. */
  expectInvariants(): Promise<void>;
  /** Forgets all tasks and receipts, and gives back what was granted at first. */
  clear(): Promise<void>;
}

const NODES = 2;
const LINKING = "test.linking";

export async function openPostgresSide(): Promise<PostgresSide> {
  await using cleanup = new AsyncDisposableStack();
  const { url, drop } = await testDatabase();
  cleanup.defer(drop);
  const databases = Array.from({ length: NODES }, (_, node) =>
    openDatabase({ url, applicationName: `model-${node}`, maxConnections: 4, onError: () => undefined }),
  );
  for (const database of databases) cleanup.defer(database.close);
  const [database] = databases;
  if (database === undefined) throw new Error("there is no node");
  for (const workspace of workspaces) await addWorkspace(database, workspace);
  for (const grant of grants) await addGrant(database, grant);
  const changed = new Set<number>();
  const nodes = databases.map((each): Node => ({
    store: {
      ...createPostgresTaskManager(each),
      ...createPostgresAttemptLedger(each),
      ...createPostgresWriteJournal(each),
      expire: (limit) => expireTasks(each, limit),
      endUnanswered: (limit) => endUnanswered(each, limit),
      permit: async (index, actions) => {
        changed.add(index);
        await permit(each, index, actions);
      },
    },
    read: createTaskReader(each),
  }));
  const artifact = await anArtifact(database, nodes[0]!.store);
  const owned = cleanup.move();
  return {
    nodes,
    artifact,
    age: async (ms) => void (await database.pool.query(AGE, [ms])),
    expectInvariants: () =>
      expectInvariants(async (text, values = []) => (await database.pool.query<Record<string, unknown>>(text, [...values])).rows, {
        isAged: true,
      }),
    clear: async () => {
      await database.pool.query(CLEAR);
      for (const index of changed) await permit(database, index, grants[index]!.actions);
      changed.clear();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function permit(database: Database, index: number, actions: readonly Action[]): Promise<void> {
  const grant = grants[index]!;
  if (actions.length === 0) await removeGrant(database, grant);
  else await addGrant(database, { ...grant, actions });
}

/** For all tasks, since there are no others than those of the sequence and those that keep the artifact. */
const AGE = `
with aged_tasks as (
  update holdfast.task
  set created_at = created_at - $1 * interval '1 millisecond', last_updated_at = last_updated_at - $1 * interval '1 millisecond'
  where operation <> '${LINKING}'
)
update holdfast.live_task
set
  lease_expires_at = lease_expires_at - $1 * interval '1 millisecond',
  cancel_requested_at = cancel_requested_at - $1 * interval '1 millisecond',
  progressed_at = progressed_at - $1 * interval '1 millisecond'`;

const CLEAR = `
with forgotten as (delete from holdfast.receipt)
delete from holdfast.task where operation <> '${LINKING}'`;

/** The same artifact in every workspace. Its tasks are parked for good, which keeps it from the sweep of those that nobody links. */
async function anArtifact(database: Database, node: Store): Promise<StoredArtifact> {
  const artifacts: StoredArtifact[] = [];
  for (const { id: workspaceId } of workspaces) {
    const taskId = taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) });
    await node.create({
      id: taskId,
      principal: principals[0],
      workspaceId,
      operation: { name: LINKING, version: 1, effect: "read", pool: "default" },
      input: {},
      ttlMs: 604_800_000,
      pollIntervalMs: 1_000,
      waiter: "client",
      contentAddress: null,
      receipt: null,
      answers: [],
    });
    const workerId = workerIdSchema.parse(randomUUID());
    const attempt = await node.claim({ taskId, workerId, leaseMs: 60_000, reach: { ...reach, operations: [LINKING] } });
    if (attempt === null) throw new Error("the task of the artifact cannot be claimed");
    const stored = await storeArtifact(database, attempt, { bytes: Uint8Array.of(1), name: "a.bin", mimeType: "application/octet-stream" });
    if (stored.kind !== "stored") throw new Error("the artifact was not stored");
    artifacts.push({ sha256: stored.address.sha256, name: stored.address.name });
    await node.settle(attempt, { kind: "suspended", requests: { never: { method: "roots/list", params: {} } } });
  }
  return artifacts[0]!;
}

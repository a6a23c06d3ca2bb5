import { afterAll, beforeAll, expect, test } from "vitest";
import { taskIdOf, toolCall, type Answer } from "../support/mcp-request.ts";
import { createServerWorld, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let world: ServerWorld;
let node: TestServer;
let token: string;

beforeAll(async () => {
  world = await createServerWorld();
  node = await world.startNode();
  token = await world.token();
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function readiness(): Promise<{ status: number; database: unknown }> {
  const response = await fetch(new URL("/readyz", node.url));
  const { database } = (await response.json()) as { database: unknown };
  return { status: response.status, database };
}

/** Ends every session of the database but the one that does it, as a restart or a failover would. */
async function endSessions(): Promise<void> {
  await world.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
}

/** For sessions that begin from now on. Written so that it works in a session that is read-only itself. */
async function makeReadOnly(state: "on" | "off"): Promise<void> {
  await world.database.pool.query(
    `begin read write;
     do $$ begin execute format('alter database %I set default_transaction_read_only = ${state}', current_database()); end $$;
     commit`,
  );
}

test("a database that became read-only makes the node not ready and calls come back later, until it can be written again", async () => {
  const taskId = taskIdOf(await node.call(toolCall("slow_compute", {}, { token, tasks: true })));
  await makeReadOnly("on");
  await endSessions();
  // Reads work again as soon as there are new sessions, and the verdict outlives every cached one.
  let unready = 0;
  const look = async (): Promise<number> => {
    const read = await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true });
    const { status, database } = await readiness();
    unready = read.result?.["status"] === "working" && status === 503 && database === "unusable" ? unready + 1 : 0;
    return unready;
  };
  await untilValue(look, (looks) => looks >= 80, 20_000);
  const refused = await node.call(toolCall("slow_compute", {}, { token, tasks: true }));
  expect(refused).toMatchObject({ status: 503, error: { code: -32_603 } });
  expect(refused.headers.get("Retry-After")).toBe("1");
  await makeReadOnly("off");
  await endSessions();
  await untilValue(readiness, ({ status }) => status === 200, 10_000);
  await untilValue<Answer>(
    () => node.call(toolCall("slow_compute", {}, { token, tasks: true })),
    ({ status }) => status === 200,
    10_000,
  );
});

test("an ordinary call survives that all sessions of the database end while it waits", async () => {
  const ordinary = node.call(toolCall("slow_compute", { label: "survivor" }, { token }));
  const [row] = await untilValue(
    () => world.query("select id from holdfast.task where input->>'label' = 'survivor'"),
    ({ length }) => length === 1,
    5000,
  );
  await endSessions();
  await world.settle(`m.k1.current.${String(row?.["id"])}.x`, undefined, { silently: true });
  expect((await ordinary).result).toMatchObject({ resultType: "complete" });
});

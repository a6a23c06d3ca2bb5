import { randomUUID } from "node:crypto";
import { wakeIdentifier, type CreateTask, type Principal } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findTask } from "../reads/find-task.ts";
import { alice, alpha, keyed, memberOf, openBench, standing, taskRequest, testWorkspace, type Bench } from "../testing/bench.ts";
import { createPostgresTaskManager } from "../task-manager.ts";
import { addWorkspace } from "./add-workspace.ts";
import { addGrant, removeGrant } from "./change-grants.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe("a created task", () => {
  test("is found over another pool the instant create returns", async () => {
    const other = bench.open();
    for (let round = 0; round < 50; round += 1) {
      const request = taskRequest({ input: { round } });
      const outcome = await bench.manager.create(request);
      expect(outcome).toEqual({ kind: "created", task: await findTask(other, { id: request.id, principal: alice }) });
    }
  });

  test("comes with one job that wakes where it can run, and with its event", async () => {
    const task = await bench.createTask({ operation: { name: "test.echo", version: 1, effect: "read", pool: "heavy" } });
    const [job, ...others] = await bench.sql<{ task_identifier: string; payload: unknown; max_attempts: number }>(
      `select j.task_identifier, p.payload, j.max_attempts
       from graphile_worker.jobs as j inner join graphile_worker._private_jobs as p on p.id = j.id where j.key = $1`,
      [task.id],
    );
    expect(others).toEqual([]);
    expect(job).toEqual({
      task_identifier: wakeIdentifier({ pool: "heavy", root: "mods" }),
      payload: { taskId: task.id },
      max_attempts: 3,
    });
    const events = await bench.sql("select kind from holdfast.task_event where task_id = $1", [task.id]);
    expect(events).toEqual([{ kind: "task.created" }]);
  });

  test("has the answers that its client gave before, for its first attempt, and asks nothing", async () => {
    const answers = [
      { key: "name", method: "elicitation/create", answer: { action: "accept", content: { text: "\u0000 \ud800" } } },
      { key: "roots", method: "roots/list", answer: { roots: [] } },
    ] as const;
    const [plain, answered] = await Promise.all([bench.createTask(), bench.createTask({ answers })]);
    expect(standing(answered)).toEqual({ status: "working", questions: [] });
    expect((await bench.claim(plain.id)).inputs).toEqual([]);
    expect((await bench.claim(answered.id)).inputs).toEqual(answers.map((answer) => ({ ...answer, params: {} })));
  });

  test("says in its own row whether it has a receipt, so that the sweep need not look", async () => {
    const [plain, receipted] = [await bench.createTask(), await bench.createTask(keyed("has a receipt"))];
    const rows = await bench.sql("select id, has_receipt from holdfast.task where id = any($1::uuid[]) order by has_receipt", [
      [plain.id, receipted.id],
    ]);
    expect(rows).toEqual([
      { id: plain.id, has_receipt: false },
      { id: receipted.id, has_receipt: true },
    ]);
  });

  test("keeps names of 255 characters outside the basic plane", async () => {
    const name = "🦊".repeat(255);
    const principal: Principal = { issuer: `https://${name}`, subject: name, groups: [name], scopes: [] };
    const member = { workspaceId: alpha, issuer: principal.issuer, memberKind: "group", member: name } as const;
    await addGrant(bench.database, { ...member, actions: ["read", "run"], expiresAt: null });
    const task = await bench.createTask({ principal, input: { [name]: name } });
    expect(await bench.manager.find({ id: task.id, principal })).toEqual(task);
    const claimed = await bench.claim(task.id);
    expect(claimed.owner).toEqual({ issuer: principal.issuer, subject: name });
    expect(claimed.input).toEqual({ [name]: name });
  });
});

describe("creates that arrive together", () => {
  test("share one transaction", async () => {
    const tasks = await Promise.all(Array.from({ length: 20 }, () => bench.createTask()));
    const transactions = await bench.sql("select distinct xmin::text from holdfast.task where id = any($1::uuid[])", [
      tasks.map((task) => task.id),
    ]);
    expect(transactions).toHaveLength(1);
  });

  test("do not fail because one of them does", async () => {
    const taken = await bench.createTask();
    const requests: CreateTask[] = Array.from({ length: 10 }, () => taskRequest());
    requests[3] = taskRequest({ id: taken.id });
    requests[7] = taskRequest({ operation: { name: "test.echo", version: 1, effect: "read", pool: "no/pool" } });
    const outcomes = await Promise.allSettled(requests.map((request) => bench.manager.create(request)));
    expect(outcomes.map(({ status }) => status)).toEqual(
      requests.map((_, index) => (index === 3 || index === 7 ? "rejected" : "fulfilled")),
    );
    expect(outcomes[3]).toMatchObject({ reason: { code: "internal" } });
    for (const [index, request] of requests.entries()) {
      if (index === 3 || index === 7) continue;
      expect(await bench.manager.find({ id: request.id, principal: alice })).toMatchObject({ id: request.id, status: "working" });
    }
    expect(await bench.manager.find({ id: taken.id, principal: alice })).toEqual(taken);
  });

  test("are judged each by its own principal and workspace", async () => {
    const stranger = { ...alice, subject: "mallory" };
    const requests = Array.from({ length: 12 }, (_, index) => taskRequest(index % 3 === 0 ? { principal: stranger } : {}));
    const outcomes = await Promise.all(requests.map((request) => bench.manager.create(request)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(requests.map((_, index) => (index % 3 === 0 ? "denied" : "created")));
  });
});

describe("create is denied", () => {
  /** What became of a create: its outcome and what is in the store. */
  const tryCreate = async (changes: Partial<CreateTask>) => {
    const request = taskRequest(changes);
    const { kind } = await bench.manager.create(request);
    const tasks = await bench.sql("select from holdfast.task where id = $1", [request.id]);
    const jobs = await bench.sql("select from graphile_worker.jobs where key = $1", [request.id]);
    return { kind, tasks: tasks.length, jobs: jobs.length };
  };
  const nothing = { kind: "denied", tasks: 0, jobs: 0 };
  const someone = (): Principal => ({ issuer: alice.issuer, subject: `someone-${randomUUID()}`, groups: [], scopes: [] });

  test("in a workspace that does not exist", async () => {
    expect(await tryCreate({ workspaceId: "nowhere" })).toEqual(nothing);
  });

  test("without a grant", async () => {
    expect(await tryCreate({ principal: someone() })).toEqual(nothing);
  });

  test("with a grant for another workspace", async () => {
    const beta = testWorkspace("beta");
    await addWorkspace(bench.database, { id: beta, root: "mods", path: "beta" });
    const principal = someone();
    await addGrant(bench.database, { ...memberOf(principal, beta), actions: ["run"], expiresAt: null });
    await bench.createTask({ principal, workspaceId: beta });
    expect(await tryCreate({ principal })).toEqual(nothing);
  });

  test("with a grant that has expired", async () => {
    const principal = someone();
    await addGrant(bench.database, { ...memberOf(principal), actions: ["run"], expiresAt: new Date(Date.now() + 3_600_000) });
    await bench.createTask({ principal });
    await addGrant(bench.database, { ...memberOf(principal), actions: ["run"], expiresAt: new Date(Date.now() - 1_000) });
    expect(await tryCreate({ principal })).toEqual(nothing);
  });

  test("with a grant that was removed", async () => {
    const principal = someone();
    await addGrant(bench.database, { ...memberOf(principal), actions: ["run"], expiresAt: null });
    await bench.createTask({ principal });
    expect(await removeGrant(bench.database, memberOf(principal))).toBe(true);
    expect(await tryCreate({ principal })).toEqual(nothing);
  });

  test("to the same subject of another issuer", async () => {
    expect(await tryCreate({ principal: { ...alice, issuer: "https://other.example" } })).toEqual(nothing);
  });

  test("for what the grant does not name: `run` writes nothing, `write` runs nothing", async () => {
    const [runner, writer] = [someone(), someone()];
    await addGrant(bench.database, { ...memberOf(runner), actions: ["read", "run"], expiresAt: null });
    await addGrant(bench.database, { ...memberOf(writer), actions: ["read", "write"], expiresAt: null });
    const write = { name: "test.echo", version: 1, effect: "write", pool: "default" } as const;
    await bench.createTask({ principal: runner });
    await bench.createTask({ principal: writer, operation: write });
    expect(await tryCreate({ principal: runner, operation: write })).toEqual(nothing);
    expect(await tryCreate({ principal: writer })).toEqual(nothing);
  });

  test("to a group that another issuer vouches for, and to a subject who is called like the group", async () => {
    const group = `modders-${randomUUID()}`;
    await addGrant(bench.database, {
      workspaceId: alpha,
      issuer: alice.issuer,
      memberKind: "group",
      member: group,
      actions: ["run"],
      expiresAt: null,
    });
    await bench.createTask({ principal: { ...someone(), groups: ["others", group] } });
    expect(await tryCreate({ principal: { ...someone(), groups: ["others"] } })).toEqual(nothing);
    expect(await tryCreate({ principal: { ...someone(), issuer: "https://other.example", groups: [group] } })).toEqual(nothing);
    expect(await tryCreate({ principal: { ...someone(), subject: group } })).toEqual(nothing);
    expect(await tryCreate({ principal: { ...someone(), groups: [(await grantedSubject()).subject] } })).toEqual(nothing);
  });

  test("to a subject whose text Postgres would take for another one", async () => {
    await addGrant(bench.database, { ...memberOf({ ...alice, subject: "\ufffd" }), actions: ["run"], expiresAt: null });
    expect(await tryCreate({ principal: { ...alice, subject: "\ud800" } })).toEqual(nothing);
    expect(await tryCreate({ principal: { ...alice, subject: "alice\u0000" } })).toEqual(nothing);
    // The same in a group costs that group only.
    await bench.createTask({ principal: { ...alice, groups: ["\ud800", "\u0000"] } });
  });

  const grantedSubject = async (): Promise<Principal> => {
    const principal = someone();
    await addGrant(bench.database, { ...memberOf(principal), actions: ["run"], expiresAt: null });
    return principal;
  };
});

test("a create whose database is gone says so and creates nothing", async () => {
  const database = bench.open();
  await database.close();
  const request = taskRequest();
  await expect(createPostgresTaskManager(database).create(request)).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(await bench.manager.find({ id: request.id, principal: alice })).toBeNull();
});

import { createHash, randomBytes, randomUUID } from "node:crypto";
import { taskIdSchema, type Principal, type TaskId } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSessionStore, type SessionStore } from "./session-store.ts";
import { alice, alpha, openBench, type Bench } from "./testing/bench.ts";
import { addGrant } from "./writes/change-grants.ts";
import { expireSessions } from "./writes/expire-sessions.ts";
import { MAX_SESSIONS } from "./writes/open-session.ts";

let bench: Bench;
let store: SessionStore;
beforeAll(async () => {
  bench = await openBench();
  store = createSessionStore(bench.database);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const DIGEST = () => createHash("sha256").update(randomBytes(8)).digest();

async function openFor(principal: Principal): Promise<{ tokenSha256: Buffer; principal: Principal; id: TaskId }> {
  const tokenSha256 = DIGEST();
  await store.open({ tokenSha256, principal, revision: "2025-11-25", capabilities: { roots: {} }, clientName: "test" });
  const session = await store.meet({ tokenSha256, principal });
  if (session === null) throw new Error("the session is not found");
  return { tokenSha256, principal, id: session.id };
}

function someone(): Principal {
  return { ...alice, subject: randomUUID() };
}

async function begin(sessionId: TaskId, requestId = "1", asTask = false): Promise<TaskId> {
  const id = taskIdSchema.parse(randomUUID());
  expect(await store.beginCall({ id, sessionId, requestId, method: "tools/call", params: { name: "x" }, asTask })).toBe("begun");
  return id;
}

const question = { method: "roots/list" as const, params: {} };

test("a session is found by its owner alone, with what its client declared", async () => {
  const { tokenSha256, principal, id } = await openFor(someone());
  expect(await store.meet({ tokenSha256, principal })).toMatchObject({ id, revision: "2025-11-25", capabilities: { roots: {} } });
  expect(await store.meet({ tokenSha256, principal: someone() })).toBeNull();
  expect(await store.meet({ tokenSha256: DIGEST(), principal })).toBeNull();
});

test("an ended session and one that nobody used for a day are not found any more", async () => {
  const [ended, idle] = [await openFor(someone()), await openFor(someone())];
  expect(await store.end({ tokenSha256: ended.tokenSha256, principal: idle.principal })).toBeNull();
  expect(await store.end(ended)).toMatchObject({ id: ended.id });
  expect(await store.end(ended)).toBeNull();
  await bench.sql("update holdfast.session set seen_at = now() - interval '25 hours' where id = $1", [idle.id]);
  expect(await store.meet(ended)).toBeNull();
  expect(await store.meet(idle)).toBeNull();
  expect(await expireSessions(bench.database, 10)).toBe(1);
  expect(await bench.sql("select from holdfast.session where id = any($1)", [[ended.id, idle.id]])).toEqual([]);
});

test("thousands of handshakes without a goodbye leave no more rows than a principal may have sessions", async () => {
  const principal = someone();
  const first = await openFor(principal);
  for (let round = 0; round < 50; round += 1) await Promise.all(Array.from({ length: 40 }, () => openFor(principal)));
  const last = await openFor(principal);
  const [row] = await bench.sql<{ rows: number }>("select count(*)::int as rows from holdfast.session where subject = $1", [
    principal.subject,
  ]);
  expect(row?.rows).toBeLessThanOrEqual(MAX_SESSIONS);
  expect(await store.meet(first)).toBeNull();
  expect(await store.meet(last)).not.toBeNull();
});

test("being seen is written at most once a minute", async () => {
  const session = await openFor(someone());
  const seen = async () =>
    (await bench.sql<{ xmin: string }>("select xmin::text from holdfast.session where id = $1", [session.id]))[0]?.xmin;
  const before = await seen();
  await store.meet(session);
  expect(await seen()).toBe(before);
  await bench.sql("update holdfast.session set seen_at = now() - interval '2 minutes' where id = $1", [session.id]);
  await store.meet(session);
  expect(
    await bench.sql("select seen_at > now() - interval '1 minute' as is_recent from holdfast.session where id = $1", [session.id]),
  ).toEqual([{ is_recent: true }]);
});

test("a wish to cancel finds the task of a call, or the call finds the wish", async () => {
  const { id: sessionId } = await openFor(someone());
  const [bound, unbound] = [await begin(sessionId, "1"), await begin(sessionId, "2")];
  const taskId = taskIdSchema.parse(randomUUID());
  expect(await store.bindCall(bound, taskId)).toBe(true);
  expect(await store.cancelCalls(sessionId, "1")).toEqual([{ id: bound, taskId }]);
  expect(await store.cancelCalls(sessionId, "1")).toEqual([]);
  expect(await store.cancelCalls(sessionId, "2")).toEqual([{ id: unbound, taskId: null }]);
  expect(await store.bindCall(unbound, taskId)).toBe(false);
  expect(await store.settleCall({ id: bound, epoch: 0 })).toBe(false);
});

test("a call is cancelled by its own session and under its own id alone, and not once it is answered", async () => {
  const [one, other] = [await openFor(someone()), await openFor(someone())];
  const call = await begin(one.id, "1");
  expect(await store.cancelCalls(other.id, "1")).toEqual([]);
  expect(await store.cancelCalls(one.id, '"1"')).toEqual([]);
  expect(await store.settleCall({ id: call, epoch: 0 })).toBe(true);
  expect(await store.cancelCalls(one.id, "1")).toEqual([]);
});

test("whoever takes a call over asks and answers from then on, and whoever held it does not", async () => {
  const [{ id: sessionId }, other] = [await openFor(someone()), await openFor(someone())];
  const id = await begin(sessionId);
  expect(await store.takeOverCall(other.id, id)).toBeNull();
  const taken = await store.takeOverCall(sessionId, id);
  expect(taken).toMatchObject({ epoch: 1, requestId: "1", params: { name: "x" }, questions: [] });
  const round = { id, requests: { where: question }, requestState: "state" };
  expect(await store.askClient({ ...round, epoch: 0 })).toBeNull();
  expect(await store.settleCall({ id, epoch: 0 })).toBe(false);
  expect(await store.askClient({ ...round, epoch: 1 })).toMatchObject([{ position: 1, key: "where", answer: null }]);
  expect(await store.settleCall({ id, epoch: 1 })).toBe(true);
});

test("a question takes the first answer, from its own session, and a later round leaves it behind", async () => {
  const [{ id: sessionId }, other] = [await openFor(someone()), await openFor(someone())];
  const callId = await begin(sessionId);
  await store.askClient({ id: callId, epoch: 0, requests: { a: question, b: question }, requestState: "first" });
  const answer = { callId, position: 2, answer: { result: { roots: [] } } };
  expect(await store.answerQuestion({ ...answer, sessionId: other.id })).toBe(false);
  expect(await store.answerQuestion({ ...answer, sessionId })).toBe(true);
  expect(await store.answerQuestion({ ...answer, sessionId, answer: { error: {} } })).toBe(false);
  expect(await store.answerQuestion({ ...answer, sessionId, position: 3 })).toBe(false);
  expect((await store.lookAtCall(callId))?.questions).toMatchObject([
    { position: 1, key: "a", answer: null },
    { position: 2, key: "b", answer: { result: { roots: [] } } },
  ]);
  await store.askClient({ id: callId, epoch: 0, requests: { c: question }, requestState: "second" });
  expect(await store.lookAtCall(callId)).toMatchObject({ requestState: "second", questions: [{ position: 3, key: "c" }] });
});

test("a session's calls go with it, and what waited for a result is to be let go", async () => {
  const session = await openFor(someone());
  const [ordinary, asTask, answered] = [await begin(session.id, "1"), await begin(session.id, "2", true), await begin(session.id, "3")];
  const tasks = [ordinary, asTask, answered].map(() => taskIdSchema.parse(randomUUID()));
  for (const [index, id] of [ordinary, asTask, answered].entries()) await store.bindCall(id, tasks[index] ?? id);
  await store.settleCall({ id: answered, epoch: 0 });
  const ended = await store.end(session);
  expect(ended?.abandoned).toEqual([tasks[0]]);
  expect(ended?.calls.toSorted()).toEqual([ordinary, asTask].toSorted());
  expect(
    await store.beginCall({ id: ordinary, sessionId: session.id, requestId: "4", method: "tools/call", params: {}, asTask: false }),
  ).toBe("ended");
});

test("a session cannot pile up calls: too many that wait are refused, and answered ones are forgotten", async () => {
  const { id: sessionId } = await openFor(someone());
  const call = { sessionId, requestId: "1", method: "tools/call", params: {}, asTask: false };
  const ids = Array.from({ length: 256 }, () => taskIdSchema.parse(randomUUID()));
  for (const id of ids) expect(await store.beginCall({ ...call, id })).toBe("begun");
  expect(await store.beginCall({ ...call, id: taskIdSchema.parse(randomUUID()) })).toBe("full");
  for (const id of ids) await store.settleCall({ id, epoch: 0 });
  for (let more = 0; more < 20; more += 1) await store.settleCall({ id: await begin(sessionId), epoch: 0 });
  await begin(sessionId);
  const [row] = await bench.sql<{ rows: number }>("select count(*)::int as rows from holdfast.session_call where session_id = $1", [
    sessionId,
  ]);
  expect(row?.rows).toBeLessThanOrEqual(258);
  await bench.sql(
    "update holdfast.session_call set answered_at = now() - interval '11 minutes' where session_id = $1 and answered_at is not null",
    [sessionId],
  );
  while ((await expireSessions(bench.database, 100)) === 100);
  expect(await bench.sql("select count(*)::int as rows from holdfast.session_call where session_id = $1", [sessionId])).toEqual([
    { rows: 1 },
  ]);
});

test("pages of a growing list show every task that was there exactly once, the newest first, and nobody else's", async () => {
  const created: TaskId[] = [];
  for (let count = 0; count < 12; count += 1) created.push((await bench.createTask()).id);
  const seen: TaskId[] = [];
  for (let after: TaskId | null = null; ;) {
    const page = await store.listTasks({ principal: alice, after, limit: 5 });
    seen.push(...page.map(({ id }) => id));
    await bench.createTask();
    after = page.at(-1)?.id ?? null;
    if (page.length < 5) break;
  }
  expect(seen).toEqual(created.toSorted().toReversed());
  const neighbour = someone();
  const grant = { workspaceId: alpha, issuer: neighbour.issuer, memberKind: "principal", member: neighbour.subject } as const;
  await addGrant(bench.database, { ...grant, actions: ["read", "run"], expiresAt: null });
  expect(await store.listTasks({ principal: neighbour, after: null, limit: 5 })).toEqual([]);
});

test("a session's stream tells of its open tasks, and of those that have changed since, for the newest holder", async () => {
  const { id: sessionId } = await openFor(someone());
  const { id: other } = await openFor(someone());
  await store.bindCall(await begin(other, "1", true), (await bench.createTask()).id);
  const [open, over] = [await bench.createTask(), await bench.createTask()];
  for (const task of [open, over]) await store.bindCall(await begin(sessionId, "1", true), task.id);
  await bench.manager.requestCancellation({ id: over.id, principal: alice });
  expect(await store.takeStream(sessionId)).toBe(1);
  const past = new Date(Date.now() - 60_000);
  expect(await store.tasksOf(sessionId, past)).toEqual({ streamEpoch: 1, taskIds: [open.id, over.id].toSorted() });
  expect(await store.tasksOf(sessionId, new Date(Date.now() + 60_000))).toEqual({ streamEpoch: 1, taskIds: [open.id] });
  expect(await store.tasksOf(taskIdSchema.parse(randomUUID()), past)).toBeNull();
});

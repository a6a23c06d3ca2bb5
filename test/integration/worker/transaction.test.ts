import { chmod, link, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeEach, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "@holdfast/core";
import { addGrant, removeGrant } from "@holdfast/db";
import { modFiles, sha256Of, type ModFiles } from "../../support/mod-files.ts";
import { createTaskWorld, textOf, untilValue, type TaskWorld } from "../../support/task-world.ts";
import { startTestWorker, type TestWorker } from "../../support/test-worker.ts";

let world: TaskWorld;
let worker: TestWorker;
let mod: ModFiles;

beforeAll(async () => {
  world = await createTaskWorld();
  worker = await startTestWorker(world);
  mod = modFiles(world);
});
beforeEach(() => mod.write({ "a.txt": "a before", "b.txt": "b before", "c.txt": "c before" }));
afterAll(async () => {
  await worker.stop();
  await world[Symbol.asyncDispose]();
});

const rewrite = (files: readonly JsonObject[], input: JsonObject = {}) =>
  world.create("durable.rewrite", { files, ...input }, { effect: "write" });
const journal = (id: string) => world.query("select state, recoveries from holdfast.journal_entry where task_id = $1", [id]);

test("a plan replaces, creates and removes files together, and its result is the task's", async () => {
  await chmod(path.join(mod.folder, "a.txt"), 0o640);
  const id = await rewrite(
    [
      { path: "a.txt", text: "a after" },
      { path: "b.txt", text: null },
      { path: "deep/er/new.txt", text: "" },
    ],
    { links: 1 },
  );
  expect(textOf(await world.untilTerminal(id))).toMatch(/^planned by /u);
  expect([await mod.read("a.txt"), await mod.read("b.txt"), await mod.read("deep/er/new.txt")]).toEqual(["a after", null, ""]);
  expect((await stat(path.join(mod.folder, "a.txt"))).mode & 0o777).toBe(0o640);
  // Nothing of ours stays behind.
  expect((await mod.list()).filter((name) => name.includes(".holdfast"))).toEqual([]);
  expect(await journal(id)).toEqual([{ state: "committed", recoveries: 0 }]);
  expect(await world.query("select from holdfast.task_artifact where task_id = $1", [id])).toHaveLength(1);
  expect(worker.events).toContainEqual({
    name: "journal.rested",
    event: { taskId: id, token: 1, state: "committed", recovered: false },
  });
});

test("a file that is not what the plan was made from is a conflict, and nothing is bound or changed", async () => {
  const id = await rewrite([
    { path: "a.txt", text: "a after" },
    { path: "b.txt", text: "b after", expected: sha256Of("something else") },
    { path: "new.txt", text: "x", expected: sha256Of("it is not there") },
    { path: "c.txt", text: "x", expected: null },
  ]);
  expect(textOf(await world.untilTerminal(id))).toBe("conflict: b.txt, new.txt, c.txt");
  expect([await mod.read("a.txt"), await mod.read("b.txt"), await mod.read("c.txt")]).toEqual(["a before", "b before", "c before"]);
  expect(await journal(id)).toEqual([]);
});

test("a plan that changes nothing is committed without a journal", async () => {
  const before = await stat(path.join(mod.folder, "a.txt"));
  const id = await rewrite([
    { path: "a.txt", text: "a before" },
    { path: "not-there.txt", text: null },
  ]);
  expect(textOf(await world.untilTerminal(id))).toMatch(/^planned by /u);
  expect(await journal(id)).toEqual([]);
  expect((await stat(path.join(mod.folder, "a.txt"))).ino).toBe(before.ino);
});

test.each(["throw", "exit"])(
  "a task whose plan is committed has the plan's result, also when its operation goes on to %s",
  async (next) => {
    const id = await rewrite([{ path: "a.txt", text: "a after" }], { next });
    expect(textOf(await world.untilTerminal(id))).toMatch(/^planned by /u);
    expect(await mod.read("a.txt")).toBe("a after");
    expect(await world.attempts(id)).toMatchObject([{ state: "succeeded" }]);
  },
);

test("a cancellation after the commit does not undo it, and the task says what happened", async () => {
  const id = await rewrite([{ path: "a.txt", text: "a after" }], { next: "wait" });
  await untilValue(
    () => journal(id),
    ([entry]) => entry?.["state"] === "committed",
    10_000,
  );
  await world.cancel(id);
  expect(textOf(await world.untilTerminal(id))).toMatch(/^planned by /u);
});

test("a plan whose owner may no longer write in the workspace is not carried out (C2.6)", async () => {
  const owner = { ...world.principal, subject: "guest", groups: ["modders"] };
  const grant = { workspaceId: world.workspaceId, issuer: owner.issuer, memberKind: "group", member: "modders" } as const;
  await addGrant(world.database, { ...grant, actions: ["read", "write"], expiresAt: null });
  const id = await world.create(
    "durable.rewrite",
    { files: [{ path: "a.txt", text: "a after" }], after: "go.txt" },
    { effect: "write" },
    { principal: owner },
  );
  await untilValue(
    () => world.attempts(id),
    (attempts) => attempts.length === 1,
    10_000,
  );
  await removeGrant(world.database, grant);
  await mod.write({ "go.txt": "" });
  const rows = () => world.query("select status from holdfast.task where id = $1", [id]);
  await untilValue(rows, ([task]) => task?.["status"] === "failed", 20_000);
  expect(await world.attempts(id)).toMatchObject([{ state: "failed", errorCode: "workspace_not_found" }]);
  expect([await mod.read("a.txt"), await journal(id)]).toEqual(["a before", []]);
});

test.each<[string, JsonObject[], RegExp]>([
  ["outside of the workspace", [{ path: "../out.txt", text: "x", expected: null }], /leads out of the workspace/u],
  ["by an absolute path", [{ path: "/tmp/out.txt", text: "x", expected: null }], /leads out of the workspace/u],
  ["in a hidden folder", [{ path: ".git/config", text: "x", expected: null }], /lies in a hidden folder/u],
  [
    "twice",
    [
      { path: "new.txt", text: "x", expected: null },
      { path: "NEW.txt", text: "y", expected: null },
    ],
    /names a file twice/u,
  ],
  [
    "as a file and as a folder",
    [
      { path: "new", text: "x", expected: null },
      { path: "new/file", text: "y", expected: null },
    ],
    /as the folder of/u,
  ],
  ["with a name that none has", [{ path: "a//b", text: "x", expected: null }], /names no file/u],
  ["below a file", [{ path: "a.txt/b", text: "x", expected: null }], /there can be no file/u],
  ["through a link to a folder", [{ path: "folder-link/x.txt", text: "x", expected: null }], /leads through a link/u],
  ["that is a link", [{ path: "file-link", text: "x", expected: null }], /there can be no file/u],
  ["that is a folder", [{ path: "folder", text: null, expected: null }], /is no file/u],
])("a plan is refused that names a file %s: the operation is told why, and nothing is changed", async (_, files, reason) => {
  await mkdir(path.join(mod.folder, "folder"), { recursive: true });
  await symlink("folder", path.join(mod.folder, "folder-link")).catch(() => undefined);
  await symlink("a.txt", path.join(mod.folder, "file-link")).catch(() => undefined);
  const id = await rewrite([{ path: "c.txt", text: "c after" }, ...files]);
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "operation_failed" } });
  expect((await world.attempts(id)).at(-1)?.detail).toMatch(reason);
  expect(await mod.read("c.txt")).toBe("c before");
  expect(await journal(id)).toEqual([]);
});

test("another name of a file keeps its bytes: it is replaced, not written into", async () => {
  const other = path.join(world.root, "other-name.txt");
  await link(path.join(mod.folder, "a.txt"), other).catch(() => undefined);
  await world.untilTerminal(await rewrite([{ path: "a.txt", text: "a after" }]));
  expect(await readFile(other, "utf8")).toBe("a before");
});

test("a second plan of one run is refused, and the first one's result stands", async () => {
  const id = await rewrite([{ path: "a.txt", text: "a after" }], { next: "again" });
  expect(textOf(await world.untilTerminal(id))).toMatch(/^planned by /u);
  expect(await mod.read("a.txt")).toBe("a after");
});

test("a read has no transaction, and its process no way to write", async () => {
  const id = await world.create("durable.sneak", { path: "sneaked.txt" });
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed" });
  expect((await world.attempts(id)).at(-1)?.detail).toContain("declared to read only");
  expect(await mod.read("sneaked.txt")).toBeNull();
});

test("writes below one root take turns, however many come at once", async () => {
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, index) => rewrite([{ path: `turn-${index}.txt`, text: `turn ${index}`, expected: null }])),
  );
  for (const [index, id] of ids.entries()) {
    expect(textOf(await world.untilTerminal(id, 20_000))).toMatch(/^planned by /u);
    expect(await mod.read(`turn-${index}.txt`)).toBe(`turn ${index}`);
  }
});

/** Somebody's plan below the same root, which does not end until it is disposed of. */
async function blockRoot(): Promise<AsyncDisposable> {
  const blocker = await world.create("hostile.echo", { text: "" }, { pool: "nobody", effect: "write" });
  await world.query(
    `insert into holdfast.journal_entry (task_id, workspace_id, root, fencing_token, result, artifacts, seal)
     values ($1, 'current', 'mods', 1, '{}', '[]', 'x')`,
    [blocker],
  );
  return {
    async [Symbol.asyncDispose]() {
      await world.query("delete from holdfast.journal_entry where task_id = $1", [blocker]);
      await world.cancel(blocker);
    },
  };
}

test("a write whose time is over while it waits for the plan of another one is tried again, and does not fail", async () => {
  const files = [{ path: "a.txt", text: "a after" }];
  const start = async () => {
    await using _blocked = await blockRoot();
    const id = await world.create("durable.rewrite_hastily", { files }, { effect: "write" });
    const ended = (rows: readonly { state: string }[]) => rows[0] !== undefined && rows[0].state !== "running";
    await untilValue(() => world.attempts(id), ended, 20_000);
    return id;
  };
  const id = await start();
  expect(textOf(await world.untilTerminal(id, 20_000))).toMatch(/^planned by /u);
  expect(await mod.read("a.txt")).toBe("a after");
  const states = (await world.attempts(id)).map(({ state }) => state);
  expect([new Set(states.slice(0, -1)), states.at(-1)]).toEqual([new Set(["interrupted"]), "succeeded"]);
});

test("a write that is cancelled while it waits for its turn has changed nothing", async () => {
  const waiting = await rewrite([{ path: "a.txt", text: "a after" }], { after: "go.txt" });
  await world.untilRunning(waiting);
  const [{ now: startedAt } = {}] = await world.query("select now()");
  await using _blocked = await blockRoot();
  await writeFile(path.join(mod.folder, "go.txt"), "");
  await untilValue(
    () => world.query("select from pg_stat_activity where query like '%into holdfast.journal_entry%' and query_start > $1", [startedAt]),
    ({ length }) => length > 0,
    10_000,
  );
  await world.cancel(waiting);
  expect(await world.untilTerminal(waiting)).toMatchObject({ status: "cancelled" });
  expect(await mod.read("a.txt")).toBe("a before");
});

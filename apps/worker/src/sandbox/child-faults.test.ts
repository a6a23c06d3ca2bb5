import { readFile, rm, symlink, writeFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startHostileSandbox, type HostileSandbox } from "../testing/hostile-sandbox.ts";
import { CHUNK_BYTES, MESSAGE_BYTES } from "./frames.ts";

let hostile: HostileSandbox;

beforeAll(async () => {
  hostile = await startHostileSandbox({ slots: 2 });
});
afterAll(() => hostile[Symbol.asyncDispose]());

/** Each fault happens beside an attempt of somebody else, which must not notice. */
async function besideAnother<Outcome>(fault: () => Promise<Outcome>): Promise<Outcome> {
  hostile.progress.length = 0;
  const bystander = hostile.start("sleep", { ms: 60_000 });
  await vi.waitFor(() => expect(hostile.progress).toHaveLength(1), 5_000);
  const outcome = await fault();
  bystander.abort("cancelled");
  expect(await bystander.outcome).toMatchObject({ kind: "stopped", by: "cancelled" });
  expect(await hostile.text("echo", { text: "still here" })).toBe("still here");
  return outcome;
}

test("process.abort() costs its own attempt", async () => {
  expect(await besideAnother(() => hostile.run("abort"))).toMatchObject({
    kind: "crashed",
    detail: expect.stringContaining("SIGABRT") as string,
  });
});

test("process.exit() costs its own attempt, whatever the code", async () => {
  expect(await besideAnother(() => hostile.run("exit", { code: 0 }))).toMatchObject({
    kind: "crashed",
    detail: expect.stringContaining("code 0") as string,
  });
});

test("a heap that outgrows its limit costs its own attempt, and the reason is kept for operators", async () => {
  const outcome = await besideAnother(() => hostile.run("grow_heap"));
  expect(outcome).toMatchObject({ kind: "crashed", output: expect.stringContaining("heap out of memory") as string });
});

test.runIf(process.platform === "linux")("memory outside of the heap is limited too", async () => {
  const outcome = await besideAnother(() => hostile.run("grow_buffers"));
  expect(outcome).toMatchObject({ kind: "crashed", detail: expect.stringContaining("MiB of memory") as string });
});

test("a blocked event loop is ended by the time limit of the parent", async () => {
  expect(await besideAnother(() => hostile.run("overrun", { deaf: true }))).toMatchObject({ kind: "stopped", by: "timeout" });
});

test("a blocked event loop can be cancelled", async () => {
  const outcome = await besideAnother(async () => {
    const run = hostile.start("spin");
    run.abort("cancelled");
    return run.outcome;
  });
  expect(outcome).toMatchObject({ kind: "stopped", by: "cancelled" });
});

test.each(["stdout", "stderr"])("a flood of %s ends its own attempt and is not kept in memory", async (stream) => {
  const outcome = await besideAnother(() => hostile.run("flood", { stream, bytes: 2 ** 40 }));
  expect(outcome).toMatchObject({ kind: "crashed", detail: expect.stringContaining("standard output") as string });
  expect(Buffer.byteLength(outcome.output)).toBeLessThanOrEqual(8 * 1024);
});

test("what an operation prints is captured and is not taken for an answer", async () => {
  const outcome = await hostile.run("flood", { stream: "stdout", bytes: 2048 });
  expect(outcome).toMatchObject({ kind: "result", output: expect.stringMatching(/^x+\n/u) as string });
});

const result = JSON.stringify({ kind: "result", run: 1, reusable: true, result: { content: [] } });
const artifact = (size: number) =>
  JSON.stringify({ kind: "artifact", run: 1, name: "a", mimeType: "b", title: null, size, sha256: "0".repeat(64) });

test.each([
  ["a message that is no JSON", [{ kind: "J", text: "{" }]],
  ["a message of no known kind", [{ kind: "J", text: `{"kind":"promote"}` }]],
  ["a message with a field too many", [{ kind: "J", text: `{"kind":"ready","also":1}` }]],
  ["being ready again", [{ kind: "J", text: `{"kind":"ready"}` }]],
  ["the result of another run", [{ kind: "J", text: result }]],
  ["a frame larger than any result may be", [{ kind: "J", text: "x", length: 2 ** 31 }]],
  ["bytes that were not announced", [{ kind: "B", text: "x" }]],
  ["an artifact for another run", [{ kind: "J", text: artifact(1) }]],
] as const)("forging %s kills the forger and fails its own attempt", async (_, frames) => {
  const outcome = await besideAnother(() => hostile.run("forge", { frames }));
  expect(outcome).toMatchObject({ kind: "crashed", detail: expect.stringContaining("broke its channel") as string });
});

test.each([
  ["progress that is no number", { kind: "progress", run: 1, value: "much", total: null, message: null }],
  ["progress with a field too many", { kind: "progress", run: 1, value: 1, total: null, message: null, status: "completed" }],
  ["a message that is too long", { kind: "progress", run: 1, value: 1, total: null, message: "m".repeat(2_000) }],
  [
    "an artifact whose name is a path",
    { kind: "artifact", run: 1, name: "../up", mimeType: "a/b", title: null, size: 0, sha256: "0".repeat(64) },
  ],
  ["an error that is no plain data", { kind: "threw", run: 1, error: { name: "Error", message: { toString: "x" }, stack: null } }],
])("a message of the right run but the wrong shape (%s) is not believed", async (_, frame) => {
  // The first run of a sandbox is number 1, which its child may well guess.
  await using fresh = await startHostileSandbox({ slots: 1 });
  const outcome = await fresh.run("forge", { frames: [{ kind: "J", text: JSON.stringify(frame) }] });
  expect(outcome).toMatchObject({ kind: "crashed", detail: expect.stringContaining("wrong shape") as string });
});

test.each([
  { bytes: 64 * 1024, kind: "result" },
  { bytes: 64 * 1024 + 1, kind: "invalid" },
  { bytes: MESSAGE_BYTES + CHUNK_BYTES, kind: "invalid" },
])("a result of $bytes bytes, where 65536 are allowed, is $kind", async ({ bytes, kind }) => {
  expect(await hostile.run("big_result", { bytes })).toMatchObject({ kind });
});

test.each(["nothing", "number", "content", "circular", "deep"])("a result that is none (%s) is invalid and harms nobody", async (how) => {
  expect(await besideAnother(() => hostile.run("odd_result", { how }))).toMatchObject({ kind: "invalid" });
});

test.each([
  { input: { count: 3 }, kind: "result" },
  { input: { count: "3" }, kind: "invalid" },
  { input: {}, kind: "invalid" },
  { input: { isError: true }, kind: "result" },
])("structured content is held against the operation's declaration: $input is $kind", async ({ input, kind }) => {
  expect(await hostile.run("declared", input)).toMatchObject({ kind });
});

test("a child may start no process, and send no signal to its worker", async () => {
  expect(await hostile.text("spawn")).toBe("refused: ERR_ACCESS_DENIED");
  expect(await hostile.text("signal")).toBe("refused: ERR_ACCESS_DENIED");
});

test("a child may read its code and the declared roots, and nothing else", async () => {
  await writeFile(path.join(hostile.root, "inside.txt"), "12345");
  expect(await hostile.text("read_file", { path: path.join(hostile.root, "inside.txt") })).toBe("done: 5");
  expect(await hostile.text("read_file", { path: import.meta.filename })).toMatch(/^done/u);
  for (const file of ["/etc/passwd", "/proc/self/environ", path.resolve(import.meta.dirname, "../../../../package-lock.json")])
    expect(await hostile.text("read_file", { path: file })).toBe("refused: ERR_ACCESS_DENIED");
});

test("the workspace shows its own files, and a link out of it is not followed", async () => {
  const mod = path.join(hostile.root, "mod");
  await mkdir(path.join(mod, "events"), { recursive: true });
  await writeFile(path.join(mod, "events", "a.txt"), "hello");
  await writeFile(path.join(hostile.root, "neighbour.txt"), "private");
  await symlink("../neighbour.txt", path.join(mod, "escape.txt"));
  expect(JSON.parse(await hostile.text("list"))).toEqual([{ path: "events/a.txt", size: 5 }]);
  expect(await hostile.text("read", { path: "events/a.txt" })).toBe("hello");
  for (const escape of ["escape.txt", "../neighbour.txt", "/etc/passwd"])
    expect(await hostile.run("read", { path: escape })).toMatchObject({
      kind: "threw",
      error: { name: "WorkspaceError", message: expect.stringContaining("outside") as string },
    });
  await rm(mod, { recursive: true });
});

test("what an operation leaves behind does not run in the middle of the next attempt", async () => {
  await using alone = await startHostileSandbox({ slots: 1 });
  const pid = await alone.text("identify");
  expect(await alone.text("identify")).toBe(pid);
  await alone.text("linger", { afterMs: 150 });
  expect(await alone.run("sleep", { ms: 400, deaf: true })).toMatchObject({ kind: "result" });
});

test.runIf(process.platform === "linux")("the machine's out-of-memory killer takes a child before it takes its worker", async () => {
  const pid = await hostile.text("identify");
  expect(await readFile(`/proc/${pid}/oom_score_adj`, "utf8")).toBe("1000\n");
});

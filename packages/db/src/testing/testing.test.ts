import { Client } from "pg";
import { expect, inject, test } from "vitest";
import { openTestRun, testDatabase, type TestTemplate } from "./index.ts";
import { databaseUrl } from "./template.ts";

test("a test database is migrated and nobody else's", async () => {
  await using one = await testDatabase();
  await using other = await testDatabase();
  const insert = "insert into holdfast.workspace (id, root) values ('alpha', 'mods')";
  await query(one.url, insert);
  expect(await query(other.url, "select * from holdfast.workspace")).toEqual([]);
  // The queue's own schema came with it.
  expect(await query(other.url, "select count(*)::int as jobs from graphile_worker.jobs")).toEqual([{ jobs: 0 }]);
});

test("dropping a test database ends its sessions and may be repeated", async () => {
  const database = await testDatabase();
  const session = new Client({ connectionString: database.url });
  const ended = new Promise((resolve) => session.on("error", resolve));
  await session.connect();
  await database.drop();
  await ended;
  await database.drop();
  expect(await databaseNames()).not.toContain(database.name);
});

test("a new run drops the databases of runs that died and keeps those of runs that live", async () => {
  await using alive = await testDatabase();
  const { adminUrl } = template();
  await query(adminUrl, "create database holdfast_test_deadbeef_1");
  await query(adminUrl, "create database holdfast_template_of_old_files");
  const run = await openTestRun({ adminUrl, stop: async () => undefined });
  await run.close();
  const names = await databaseNames();
  expect(names).toContain(alive.name);
  expect(names).toContain(template().template);
  expect(names).not.toContain("holdfast_test_deadbeef_1");
  expect(names).not.toContain("holdfast_template_of_old_files");
});

test("runs that begin together on a fresh server share one template", async () => {
  const { adminUrl, template: name } = template();
  const elsewhere = { adminUrl: databaseUrl(adminUrl, "postgres"), stop: async () => undefined };
  const runs = await Promise.all(Array.from({ length: 4 }, () => openTestRun(elsewhere)));
  await Promise.all(runs.map((run) => run.close()));
  expect(new Set(runs.map((run) => run.template))).toEqual(new Set([name]));
});

function template(): TestTemplate {
  const provided = inject("holdfastTemplate");
  if (provided === undefined) throw new Error("the db project has lost its global setup");
  return provided;
}

async function databaseNames(): Promise<unknown[]> {
  return (await query(template().adminUrl, "select datname from pg_database")).map((row) => row["datname"]);
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

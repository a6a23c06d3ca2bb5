import { randomBytes } from "node:crypto";
import { Client, escapeIdentifier } from "pg";
import { startTestServer } from "./server.ts";
import { databasePrefix, databaseUrl, dropDatabase, openTestRun, type TestRun, type TestTemplate } from "./template.ts";

export { openTestRun, startTestServer, type TestTemplate };

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  /** Ends all sessions of the database and removes it; safe to call twice. */
  drop(): Promise<void>;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Absent in the projects that have no global setup. */
    holdfastTemplate?: TestTemplate;
  }
}

/** A fresh, migrated database of the caller's own, on the server of the test run or, outside vitest, on one that lives as long as it. */
export async function testDatabase(): Promise<TestDatabase> {
  return await databaseLike((run) => run.template);
}

/** The same without a schema, for tests of what happens before there is one. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return await databaseLike(() => "template0");
}

async function databaseLike(templateOf: (run: TestTemplate) => string): Promise<TestDatabase> {
  const shared = await sharedTemplate();
  if (shared !== null) return await createDatabase(shared, templateOf(shared), async () => undefined);
  const server = await startTestServer();
  let run: TestRun | undefined;
  const close = async (): Promise<void> => {
    await run?.close();
    await server.stop();
  };
  try {
    run = await openTestRun(server);
    return await createDatabase(run, templateOf(run), close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function sharedTemplate(): Promise<TestTemplate | null> {
  try {
    const { inject } = await import("vitest");
    return inject("holdfastTemplate") ?? null;
  } catch {
    // Outside a test process vitest refuses to be loaded.
    return null;
  }
}

async function createDatabase({ adminUrl, run }: TestTemplate, template: string, afterDrop: () => Promise<void>): Promise<TestDatabase> {
  const name = `${databasePrefix}${run}_${randomBytes(4).toString("hex")}`;
  await withAdmin(adminUrl, (client) => client.query(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`));
  let dropped: Promise<void> | undefined;
  const drop = (): Promise<void> => {
    dropped ??= withAdmin(adminUrl, (client) => dropDatabase(client, name)).then(afterDrop);
    return dropped;
  };
  return { url: databaseUrl(adminUrl, name), name, drop, [Symbol.asyncDispose]: drop };
}

async function withAdmin<T>(adminUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 15_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

import { openTestRun, startTestServer, type TestTemplate } from "@holdfast/db/testing";
import type { TestProject } from "vitest/node";

interface Shared {
  readonly template: TestTemplate;
  users: number;
  close(): Promise<void>;
}

const key = Symbol.for("holdfast.testServer");
// Each vitest project loads this file for itself; the process is what they have in common.
const registry = globalThis as { [key]?: Promise<Shared> };

/** Gives the project the run's one Postgres, starting it for the first that asks and stopping it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  registry[key] ??= start();
  const shared = await registry[key];
  shared.users += 1;
  project.provide("holdfastTemplate", shared.template);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete registry[key];
    await shared.close();
  };
}

async function start(): Promise<Shared> {
  // oxlint-disable-next-line no-console -- the place where vitest's own reporter writes
  const server = await startTestServer((line) => console.error(line));
  try {
    const { adminUrl, template, run, close } = await openTestRun(server);
    return {
      template: { adminUrl, template, run },
      users: 0,
      close: async () => {
        await close();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

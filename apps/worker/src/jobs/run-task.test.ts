import { expect, test } from "vitest";
import type { JobHelpers } from "graphile-worker";
import { createRunTask } from "./run-task.ts";

const TASK = "0190b8a0-0000-7000-8000-000000000001";

async function runJob(payload: unknown) {
  const log: string[] = [];
  const task = createRunTask({
    runAttempt: async (taskId) => void log.push(taskId),
    whenReady: async () => void log.push("ready"),
    onBadPayload: () => void log.push("bad"),
  });
  await task(payload, {} as JobHelpers);
  return log;
}

test("a job starts an attempt at its task, once operations can be run", async () => {
  expect(await runJob({ taskId: TASK })).toEqual(["ready", TASK]);
});

test.each([null, {}, { taskId: "1" }, [TASK], "x"])("a payload that names no task (%j) is forgotten", async (payload) => {
  expect(await runJob(payload)).toEqual(["bad"]);
});

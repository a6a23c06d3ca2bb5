import { expect, test } from "vitest";
import { createServerWorld } from "../support/server-world.ts";
import { createTaskWorld } from "../support/task-world.ts";

const END_BY_HAND = "update holdfast.task set status = 'cancelled'";

test("a test whose database breaks a rule fails at its end, and says which rule and what happened to the task", async () => {
  const world = await createTaskWorld();
  const id = await world.create("durable.ask");
  await world.query(END_BY_HAND);
  const ending = world[Symbol.asyncDispose]();
  await expect(ending).rejects.toThrow(/"ended_task_with_mutex"(?:.|\n)*"task\.created"/u);
  await expect(ending).rejects.toThrow(id);
});

test("a test may break a rule when it says why, and must break it then", async () => {
  const breaking = await createTaskWorld();
  await breaking.create("durable.ask");
  await breaking.query(END_BY_HAND);
  breaking.tolerate("ended_task_with_mutex", "the end was made by hand");
  breaking.tolerate("miscounted_ending", "the end was made by hand");
  await breaking[Symbol.asyncDispose]();
  const keeping = await createServerWorld();
  keeping.tolerate("ended_task_with_mutex", "nothing needs it any more");
  await expect(keeping[Symbol.asyncDispose]()).rejects.toThrow("ended_task_with_mutex, since nothing needs it any more");
});

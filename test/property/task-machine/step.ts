import { taskIdSchema, type AttemptRef, type CreateTask, type Effect, type Task } from "@holdfast/core";
import type fc from "fast-check";
import type { Pair } from "./pair.ts";
import type { Move } from "./store.ts";
import { principals, workers, workspaces } from "./places.ts";

/** One event of a sequence. Its choices are numbers, which `prepare` turns into what the sequence has met. */
export class Step implements fc.AsyncCommand<Pair, Pair> {
  readonly name: string;
  readonly prepare: (pair: Pair) => Move;

  constructor(name: string, prepare: (pair: Pair) => Move) {
    this.name = name;
    this.prepare = prepare;
  }

  check(): boolean {
    return true;
  }

  async run(pair: Pair): Promise<void> {
    await pair.take(this.prepare(pair));
  }

  toString(): string {
    return this.name;
  }
}

/** Two events at the same time on two nodes, after those that they need. */
export class Race implements fc.AsyncCommand<Pair, Pair> {
  readonly steps: readonly [Step, Step];
  readonly after: readonly Step[];

  constructor(steps: readonly [Step, Step], after: readonly Step[] = []) {
    this.steps = steps;
    this.after = after;
  }

  check(): boolean {
    return true;
  }

  async run(pair: Pair): Promise<void> {
    for (const step of this.after) await step.run(pair);
    const [first, second] = this.steps;
    await pair.race([first.prepare(pair), second.prepare(pair)]);
  }

  toString(): string {
    return [...this.after, `race(${this.steps.join(", ")})`].join(",");
  }
}

/** Time that passes, in minutes. */
export class TimePasses implements fc.AsyncCommand<Pair, Pair> {
  readonly minutes: number;

  constructor(minutes: number) {
    this.minutes = minutes;
  }

  check(): boolean {
    return true;
  }

  async run(pair: Pair): Promise<void> {
    await pair.pass(this.minutes * 60_000);
  }

  toString(): string {
    return `pass(${this.minutes} min)`;
  }
}

/** Which of the things that fit a step, or, from `ANY` on, of all, the newest first; `STRAY` stands for one that the sequence never had. */
export const ANY = 10;
export const STRAY = -1;

type Target = Pick<CreateTask, "id" | "principal" | "operation">;
const strayTask: Target = {
  id: taskIdSchema.parse("00000000-0000-7000-8000-000000000000"),
  principal: principals[0],
  operation: { name: "test.read", version: 1, effect: "read", pool: "default" },
};

export function taskAt(pair: Pair, index: number, fits: (task: Task) => boolean): Target {
  const newestFirst = pair.tasks.toReversed();
  const fitting = newestFirst.filter(({ id }) => {
    const task = pair.viewOf(id);
    return task !== null && fits(task);
  });
  return choose(newestFirst, fitting, index) ?? strayTask;
}

/** An attempt that holds its task, or one of any age, the newest first. */
export function attemptAt(pair: Pair, index: number, effect?: Effect): AttemptRef {
  const newestFirst = pair.attempts.toReversed();
  const holding = newestFirst.filter(({ taskId, token }) => {
    const task = pair.tasks.find(({ id }) => id === taskId);
    return pair.viewOf(taskId)?.attempt === token && (effect === undefined || task?.operation.effect === effect);
  });
  const stray = { taskId: pair.tasks[0]?.id ?? strayTask.id, token: 99, workerId: workers[0]! };
  return choose(newestFirst, holding, index) ?? stray;
}

function choose<Thing>(all: readonly Thing[], fitting: readonly Thing[], index: number): Thing | undefined {
  if (index === STRAY) return undefined;
  return index < ANY && fitting.length > 0 ? fitting[index % fitting.length] : all[(index % ANY) % Math.max(1, all.length)];
}

export function workspaceAt(index: number): (typeof workspaces)[number] {
  return workspaces[index] ?? workspaces[0];
}

export function principalAt(index: number): (typeof principals)[number] {
  return principals[index] ?? principals[0];
}

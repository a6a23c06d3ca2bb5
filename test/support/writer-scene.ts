import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Task, TaskId, TelemetryEvents } from "@holdfast/core";
import { modFiles, type ModFiles } from "./mod-files.ts";
import { BIND, closeGate, MOVE, type StatementGate } from "./statement-gate.ts";
import { createTaskWorld, type TaskWorld } from "./task-world.ts";
import { startTestWorker } from "./test-worker.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

/** What the plan of every scene makes of its files, in this order: it replaces, removes, replaces and creates one. */
export const BEFORE = { "a.txt": "a before", "b.txt": "b before", "c.txt": "c before" };
export const AFTER = { "a.txt": "a after", "b.txt": null, "c.txt": "c after", "d.txt": "d after" };
export const before = [...Object.values(BEFORE), null];
export const after = Object.values(AFTER);

/** A worker process in the middle of a write, and the gate that lets it do one statement after the other. */
export interface WriterScene extends AsyncDisposable {
  readonly world: TaskWorld;
  readonly worker: WorkerProcess;
  readonly mod: ModFiles;
  readonly id: TaskId;
  readonly gate: StatementGate;
  /** Lets the plan be bound and so many moves of the journal be made; the next one waits then. */
  advance(moves: number): Promise<void>;
  /** Files of the plan, in their order. */
  files(): Promise<readonly (string | null)[]>;
  journal(): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Kills the worker, and the statement that it waits for: it would be carried out otherwise. */
  kill(waiting: string | null): Promise<void>;
  /** Lets another worker take over and end the task. */
  takeOver(): Promise<{ readonly task: Task; readonly rests: readonly TelemetryEvents["journal.rested"][] }>;
}

/** It is about to bind its plan. `table` is what the gate holds: while it is `task_event`, nothing else happens to any task either. */
export async function startWriterScene(
  options: {
    readonly table?: "task_event" | "journal_entry";
    readonly operation?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<WriterScene> {
  const { table = "task_event", operation = "durable.rewrite", env = {} } = options;
  await using cleanup = new AsyncDisposableStack();
  const world = cleanup.use(await createTaskWorld());
  const mod = modFiles(world);
  await mod.write(BEFORE);
  const worker: WorkerProcess = cleanup.use(await startWorkerProcess(world, { ...env }));
  const files = Object.entries(AFTER).map(([name, text]) => ({ path: name, text }));
  const id = await world.create(operation, { files, after: "go" }, { effect: "write" });
  await world.untilRunning(id);
  const gate = cleanup.use(await closeGate(world, table));
  await writeFile(path.join(mod.folder, "go"), "");
  await gate.untilWaiting(BIND);
  const owned = cleanup.move();
  return {
    world,
    worker,
    mod,
    id,
    gate,
    async advance(moves) {
      await gate.letThrough(BIND);
      for (let move = 0; move < moves; move += 1) await gate.letThrough(MOVE);
    },
    files: () => Promise.all(Object.keys(AFTER).map(mod.read)),
    async journal() {
      const [entry] = await world.query("select state, recoveries, result #>> '{content,0,text}' as text from holdfast.journal_entry");
      return entry;
    },
    async kill(waiting) {
      worker.signal("SIGKILL");
      await worker.exit;
      if (waiting !== null) await gate.discard(waiting);
      gate.open();
    },
    async takeOver() {
      await using rescuer = await startTestWorker(world);
      const task = await world.untilTerminal(id, 15_000);
      const rests = rescuer.events.flatMap(({ event }) => ("recovered" in event ? [event] : []));
      return { task, rests };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

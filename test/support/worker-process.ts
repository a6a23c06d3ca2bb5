import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import path from "node:path";
import { LEASE_MS } from "./test-worker.ts";
import { ROOT_NAME, TEST_PACKS, untilValue, type TaskWorld } from "./task-world.ts";

/** A real worker process, as an operator would start it. */
export interface WorkerProcess extends AsyncDisposable {
  readonly pid: number;
  /** Its id in the database, as its log lines say it. */
  readonly id: string;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  signal(signal: NodeJS.Signals): void;
  /** Log lines so far that carry this event. */
  events(name: string): readonly LogLine[];
  /** Log lines so far with this text in their message. */
  messages(text: string): readonly LogLine[];
  /** Process ids of children that were started and have not been reported gone. */
  children(): readonly number[];
}

export type LogLine = Readonly<Record<string, unknown>>;

const MAIN = path.join(path.dirname(createRequire(import.meta.url).resolve("@holdfast/worker")), "main.ts");
const READY_WITHIN_MS = 40_000;

export async function startWorkerProcess(world: TaskWorld, env: Record<string, string> = {}): Promise<WorkerProcess> {
  const {
    process: worker,
    lines,
    stderr,
    exit,
  } = spawnWorker({
    DATABASE_URL: world.url,
    HOLDFAST_KEYS: world.keys,
    HOLDFAST_PACKS: TEST_PACKS,
    HOLDFAST_ROOTS: `${ROOT_NAME}=${world.root}`,
    HOLDFAST_LEASE_MS: String(LEASE_MS),
    HOLDFAST_DRAIN_MS: "2000",
    HOLDFAST_LOG_LEVEL: "debug",
    ...env,
  });
  const events = (name: string) => lines.filter(({ event }) => event === name);
  const end = async (): Promise<void> => {
    worker.kill("SIGCONT");
    worker.kill("SIGKILL");
    await exit;
  };
  const started = await Promise.race([
    untilValue(
      () => Promise.resolve(events("process.started")),
      ({ length }) => length > 0,
      READY_WITHIN_MS,
    ),
    exit.then(({ code }) => {
      throw new Error(`the worker ended with ${String(code)} before it was ready: ${stderr()}`);
    }),
  ]).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  const { pid } = worker;
  if (pid === undefined) throw new Error("the worker has no process id");
  return {
    pid,
    id: String(started[0]?.["worker"]),
    exit,
    signal: (signal) => void process.kill(pid, signal),
    events,
    messages: (text) => lines.filter(({ msg }) => String(msg).includes(text)),
    children() {
      const gone = new Set(events("child.exited").map((line) => line["pid"]));
      return events("child.spawned")
        .map((line) => Number(line["pid"]))
        .filter((child) => !gone.has(child));
    },
    [Symbol.asyncDispose]: end,
  };
}

/** Runs a worker until it ends by itself, for tests of its refusals. */
export async function runWorkerProcess(env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const { stderr, exit } = spawnWorker(env);
  const { code } = await exit;
  return { code, stderr: stderr() };
}

function spawnWorker(env: Record<string, string>) {
  const worker = spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
  const lines: Record<string, unknown>[] = [];
  let stderr = "";
  createInterface({ input: worker.stdout }).on("line", (line) => void lines.push(JSON.parse(line) as Record<string, unknown>));
  worker.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString("utf8")));
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    worker.on("close", (code, signal) => resolve({ code, signal }));
  });
  return { process: worker, lines, stderr: () => stderr, exit };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

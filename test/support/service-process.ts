import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A real process of Holdfast, as an operator would start it. */
export interface ServiceProcess extends AsyncDisposable {
  readonly pid: number;
  /** What it said when it became ready. */
  readonly started: Readonly<Record<string, unknown>>;
  readonly exit: Promise<ProcessEnd>;
  signal(signal: NodeJS.Signals): void;
  /** Log lines so far that carry this event. */
  events(name: string): readonly Record<string, unknown>[];
  /** All that it wrote to standard output. */
  output(): string;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface ServiceCommand {
  /** The module that it runs. */
  readonly main: string;
  /** All that it sees of an environment. */
  readonly env: Readonly<Record<string, string>>;
}

const READY_WITHIN_MS = 60_000;

/** Resolves when it serves; rejects with what it said when it ends before. */
export async function startServiceProcess(command: ServiceCommand): Promise<ServiceProcess> {
  const { child, lines, exit, ready } = spawnService(command);
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exit;
  };
  const endedEarly = exit.then(({ code, stderr }) => {
    throw new Error(`${command.main} ended with ${String(code)} before it was ready: ${stderr}`);
  });
  const started = await Promise.race([ready, endedEarly]).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command.main} has no process id`);
  return {
    pid,
    started,
    exit,
    signal: (signal) => void process.kill(pid, signal),
    events: (name) => lines.filter(({ event }) => event === name),
    output: () => lines.map((line) => JSON.stringify(line)).join("\n"),
    [Symbol.asyncDispose]: end,
  };
}

/** Runs it until it ends by itself, for tests of its refusals. */
export async function runServiceProcess(command: ServiceCommand): Promise<ProcessEnd> {
  return await spawnService(command).exit;
}

interface Spawned {
  readonly child: ReturnType<typeof spawn>;
  readonly lines: Record<string, unknown>[];
  readonly exit: Promise<ProcessEnd>;
  readonly ready: Promise<Record<string, unknown>>;
}

function spawnService({ main, env }: ServiceCommand): Spawned {
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "pipe"] });
  const lines: Record<string, unknown>[] = [];
  const ready = Promise.withResolvers<Record<string, unknown>>();
  let stderr = "";
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    lines.push(line);
    if (line["event"] === "process.started") ready.resolve(line);
  });
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  const timer = setTimeout(() => ready.reject(new Error(`${main} was not ready within ${READY_WITHIN_MS} ms`)), READY_WITHIN_MS);
  // Nobody waits for it in runs that are expected to end.
  ready.promise.then(() => clearTimeout(timer)).catch(() => undefined);
  const exit = once(child, "close").then(([code, signal]: unknown[]): ProcessEnd => {
    clearTimeout(timer);
    return { code: typeof code === "number" ? code : null, signal: signal as NodeJS.Signals | null, stderr };
  });
  return { child, lines, exit, ready: ready.promise };
}

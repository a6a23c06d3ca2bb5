import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { modernCaller, type CallModern } from "./mcp-request.ts";

/** A real server process, as an operator would start it. */
export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  /** Where it listens. */
  readonly url: string;
  readonly call: CallModern;
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

const MAIN = path.join(path.dirname(createRequire(import.meta.url).resolve("@holdfast/server")), "main.ts");
const READY_WITHIN_MS = 20_000;

/** Rejects with what it said when it ends before it serves. */
export async function startServerProcess(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const { child, lines, exit, ready } = spawnServer(env);
  const started = await Promise.race([
    ready,
    exit.then(({ code, stderr }) => {
      throw new Error(`the server ended with ${String(code)} before it was ready: ${stderr}`);
    }),
  ]);
  const { pid } = child;
  if (pid === undefined) throw new Error("the server has no process id");
  const url = String(started["url"]);
  return {
    pid,
    url,
    call: modernCaller(url),
    exit,
    signal: (signal) => void process.kill(pid, signal),
    events: (name) => lines.filter(({ event }) => event === name),
    output: () => lines.map((line) => JSON.stringify(line)).join("\n"),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

/** Runs a server until it ends by itself, for tests of its refusals. */
export async function runServerProcess(env: Readonly<Record<string, string>>): Promise<ProcessEnd> {
  return await spawnServer(env).exit;
}

function spawnServer(env: Readonly<Record<string, string>>): {
  readonly child: ReturnType<typeof spawn>;
  readonly lines: Record<string, unknown>[];
  readonly exit: Promise<ProcessEnd>;
  readonly ready: Promise<Record<string, unknown>>;
} {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
  const lines: Record<string, unknown>[] = [];
  const ready = Promise.withResolvers<Record<string, unknown>>();
  let stderr = "";
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    lines.push(line);
    if (line["event"] === "process.started") ready.resolve(line);
  });
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  const timer = setTimeout(() => ready.reject(new Error(`the server was not ready within ${READY_WITHIN_MS} ms`)), READY_WITHIN_MS);
  timer.unref();
  ready.promise.catch(() => undefined);
  const exit = once(child, "close").then(([code, signal]: unknown[]): ProcessEnd => {
    clearTimeout(timer);
    return { code: typeof code === "number" ? code : null, signal: signal as NodeJS.Signals | null, stderr };
  });
  return { child, lines, exit, ready: ready.promise };
}

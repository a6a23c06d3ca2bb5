import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "@holdfast/process";

export interface ChildOptions {
  /** How notes and errors call it: "node A", "the worker". */
  readonly name: string;
  /** The module it runs, with these arguments; the command line of Holdfast when left out. */
  readonly module?: string;
  readonly args: readonly string[];
  /** All that it sees of an environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Receives every line that it writes to stdout. */
  readonly onLine?: (line: string) => void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that we started and answer for. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  /** Resolves when it says that it serves; rejects with `ChildFailed` when it ends before, or says nothing in time. */
  ready(withinMs: number): Promise<void>;
  /** Resolves after the last line of its output, never rejects. */
  readonly exit: Promise<Exit>;
  /** The last sentence that it wrote to stderr, where a process says why it gives up; empty when there is none. */
  complaint(): string;
  /** Asks it to drain; kills it when it has not ended within `graceMs`. */
  stop(graceMs: number): Promise<Exit>;
  /** Ends it at once, without a chance to tidy up. */
  kill(): Promise<Exit>;
}

/** A child that did not do what it was started for; `exit` is null while it still runs. */
export class ChildFailed extends Error {
  override readonly name = "ChildFailed";
  readonly exit: Exit | null;
  readonly complaint: string;

  constructor(child: Pick<Child, "name" | "complaint">, exit: Exit | null) {
    const complaint = child.complaint();
    const what = exit === null ? "did not become ready in time" : `ended early (${describeExit(exit)})`;
    super(`${child.name} ${what}${complaint === "" ? "" : `: ${complaint}`}`);
    this.exit = exit;
    this.complaint = complaint;
  }
}

const commandLine = fileURLToPath(new URL("../main.ts", import.meta.url));
/** The server and the worker print one JSON line with this event when they serve. */
const readyEvent = /"event":\s*"process\.started"/u;
const complaintLength = 2000;

/**
 * Starts a process of this Node. It gets a session of its own, so that Ctrl+C in the terminal reaches us alone and the order of the shutdown
 * is ours; and a channel that breaks when we die, however we die, at which it ends itself (`endWithParent`).
 */
export function startChild({ name, module = commandLine, args, env, onLine }: ChildOptions): Child {
  const spawned = spawn(process.execPath, [module, ...args], { env: { ...env }, detached: true, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const { pid } = spawned;
  if (pid === undefined) throw new Error(`cannot start ${name}: ${process.execPath} did not spawn`);
  const exit = exitOf(spawned);
  const serves = readyLine(spawned, onLine);
  const complaint = lastComplaint(spawned);
  const kill = async (): Promise<Exit> => {
    signalGroup(pid, "SIGKILL");
    return await exit;
  };
  return {
    name,
    pid,
    exit,
    complaint,
    kill,
    ready: async (withinMs) => {
      const first = await within(withinMs, Promise.race([serves, exit]));
      if (first !== "serves") throw new ChildFailed({ name, complaint }, first);
    },
    stop: async (graceMs) => {
      spawned.kill("SIGTERM");
      return (await within(graceMs, exit)) ?? (await kill());
    },
  };
}

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code ?? "unknown"}` : `signal ${signal}`;
}

/** Called by a process that `startChild` started: when its parent is gone it drains, as if it had been asked to. */
export function endWithParent(): void {
  // Node defines it for processes with a channel, also after the channel broke.
  if (!("connected" in process)) return;
  const drain = (): void => void process.kill(process.pid, "SIGTERM");
  // The parent may have died while our modules were loaded, and the event with it.
  if (!process.connected) drain();
  process.once("disconnect", drain);
  // Listening to the channel must not keep alive a process that has nothing else to do.
  process.channel?.unref();
}

async function exitOf(spawned: ChildProcess): Promise<Exit> {
  const { promise, resolve } = Promise.withResolvers<Exit>();
  // `close` comes after the last output, `exit` may come before it.
  spawned.once("close", (code, signal) => resolve({ code, signal }));
  spawned.once("error", () => resolve({ code: null, signal: null }));
  return await promise;
}

async function readyLine(spawned: ChildProcess, onLine: ChildOptions["onLine"]): Promise<"serves"> {
  const { promise, resolve } = Promise.withResolvers<"serves">();
  if (spawned.stdout !== null) {
    createInterface({ input: spawned.stdout }).on("line", (line) => {
      onLine?.(line);
      if (readyEvent.test(line)) resolve("serves");
    });
  }
  return await promise;
}

function lastComplaint(spawned: ChildProcess): () => string {
  let text = "";
  spawned.stderr?.on("data", (chunk: Buffer) => {
    text = `${text}${chunk.toString("utf8")}`.slice(-complaintLength);
  });
  return () =>
    text
      .split("\n")
      .findLast((line) => !aroundComplaint.test(line))
      ?.trim() ?? "";
}

/** What Node puts around the message of an exception that nobody caught: frames, members, its own version. */
const aroundComplaint = /^\s|^\W*$|^Node\.js v/u;

/** The child leads a process group of its own; what it started and did not put elsewhere goes with it. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already, and `exit` says so.
  }
}

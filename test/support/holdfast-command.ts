import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const commandLine = path.join(import.meta.dirname, "../../apps/cli/src/main.ts");

/** A place of its own for the commands of a test: whatever they leave behind can be told from everybody else's. */
export interface Scratch {
  readonly folder: string;
  /** Hands a process over, for `end`. */
  own(child: ChildProcess): void;
  /** Processes that were started from here and still run, and what they are. */
  processes(): readonly string[];
  /** Temporary files and folders that are still there. */
  leftovers(): readonly string[];
  /** Kills what a failed test left running; its children and its database notice. */
  end(): void;
  remove(): void;
}

/** A `holdfast` command as a person runs it: a process, what it says, how it ends. */
export interface HoldfastCommand {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when stdout holds a match; rejects when the command ends without one, or takes too long. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** Exit code, or the name of the signal that ended it. */
  readonly end: Promise<number | NodeJS.Signals | null>;
}

const patienceMs = 60_000;

export function createScratch(): Scratch {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-e2e-"));
  const temporary = mkdtempSync(path.join(folder, "tmp-"));
  // Under root, the database runs as somebody else, who has to reach its folder.
  for (const each of [folder, temporary]) chmodSync(each, 0o755);
  const started: ChildProcess[] = [];
  return {
    folder,
    own: (child) => started.push(child),
    end: () => {
      for (const child of started) child.kill("SIGKILL");
    },
    processes: () => processesNaming(folder),
    leftovers: () => readdirSync(temporary),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Starts it with little more in its environment than what is given. */
export function startHoldfast(
  scratch: Scratch,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): HoldfastCommand {
  const [temporary = ""] = readdirSync(scratch.folder).filter((name) => name.startsWith("tmp-"));
  const child = spawn(process.execPath, [commandLine, ...args], {
    cwd: scratch.folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: scratch.folder,
      TMPDIR: path.join(scratch.folder, temporary),
      HOLDFAST_DATA: path.join(scratch.folder, "data"),
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  scratch.own(child);
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start holdfast ${args.join(" ")}`);
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.stderr += chunk.toString()));
  const end = once(child, "close").then(([code, signal]: unknown[]) => (code ?? signal) as number | NodeJS.Signals | null);
  return {
    pid,
    end,
    get stdout() {
      return said.stdout;
    },
    get stderr() {
      return said.stderr;
    },
    signal: (name) => child.kill(name),
    says: async (pattern) => {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
      const complain = (why: string) => reject(new Error(`${why}, not ${pattern.source}; it said:\n${said.stdout}\n${said.stderr}`));
      const look = (): void => {
        const match = pattern.exec(said.stdout);
        if (match !== null) resolve(match);
      };
      const timer = setTimeout(() => complain(`nothing else within ${patienceMs / 1000} s`), patienceMs);
      child.stdout.on("data", look);
      child.once("close", (code) => complain(`the command ended with ${String(code)}`));
      look();
      return await promise.finally(() => {
        clearTimeout(timer);
        child.stdout.off("data", look);
      });
    },
  };
}

/** Runs it to its end. */
export async function runHoldfast(
  scratch: Scratch,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | NodeJS.Signals | null; stdout: string; stderr: string }> {
  const command = startHoldfast(scratch, args, environment);
  const code = await command.end;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

/** By command line or environment; only Linux lets us look. */
function processesNaming(text: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = readProcessFile(pid, "cmdline");
      const isNamed = [command, readProcessFile(pid, "environ")].some((content) => content.includes(text));
      return isNamed && command !== "" ? [`${pid} ${command.replaceAll("\0", " ")}`] : [];
    });
}

function readProcessFile(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // Ended while we looked, or not ours to look at.
  }
}

/** The process among those of the scratch whose command line ends so: "main.ts worker". */
export function pidOf(scratch: Scratch, ending: string): number {
  const found = scratch.processes().filter((line) => line.trimEnd().endsWith(ending));
  const [first, ...others] = found;
  if (first === undefined || others.length > 0)
    throw new Error(`expected one process "${ending}" among:\n${scratch.processes().join("\n")}`);
  return Number(first.split(" ")[0]);
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { PostgresBinaries } from "./platform-binaries.ts";
import { asAccount, type ServerAccount } from "./server-account.ts";

export interface PostmasterOptions {
  readonly binaries: PostgresBinaries;
  readonly account: ServerAccount | null;
  readonly pgdata: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  /** Removed when our process dies without stopping the server. */
  readonly removeWhenOrphaned: string | null;
  readonly log: (line: string) => void;
}

export interface Postmaster {
  /** Ends the sessions and the server and resolves when it is gone; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Runs in place of the server until `exec`, and leaves a watcher behind: the other end of descriptor 3 is held by our process, so when that
 * one dies, however it dies, `read` meets the end of file and the server gets its signal. The watcher is reparented (the double
 * parentheses), because the server would treat an unknown child as a crashed backend. Its patience ends, because a dead server whose new
 * parent does not collect it answers `kill -0` for ever.
 */
const underWatch = `
folder=$1; shift
( (
  read -r word <&3 && exit
  kill -INT $$
  [ -n "$folder" ] || exit
  tries=0
  while [ $tries -lt 60 ] && kill -0 $$; do sleep 1; tries=$((tries + 1)); done
  rm -rf -- "$folder"
) >/dev/null 2>&1 & )
exec "$@" 3<&-
`;

const startMs = 120_000;

/** Starts the server and resolves when it accepts connections; rejects with its own complaint. */
export async function launchPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { account, binaries, pgdata, port } = options;
  const settings = Object.entries(options.settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = [binaries.postgres, "-D", pgdata, "-p", String(port), ...settings];
  const child = spawn("/bin/sh", ["-c", underWatch, "sh", options.removeWhenOrphaned ?? "", ...server], {
    ...asAccount(account),
    cwd: "/",
    // A session of its own: Ctrl+C in the terminal must reach us alone, or the database would be gone before the drain.
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const gone = once(child, "exit");
  gone.catch(() => undefined);
  void gone.then(
    () => dismissWatcher(child),
    () => undefined,
  );
  await ready(child, options.log);
  return { stop: () => stop(child, gone) };
}

async function ready(child: ChildProcess, log: (line: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  let complaint = "it said nothing";
  const refuse = (reason: string) => reject(new EmbeddedPostgresError(`the embedded Postgres did not start: ${reason}`));
  if (child.stderr === null) throw new EmbeddedPostgresError("the embedded Postgres was started without a log");
  createInterface({ input: child.stderr }).on("line", (line) => {
    log(line);
    // The addresses are bound before the fatal line that follows, and say more than it.
    if (/could not bind|FATAL|PANIC/u.test(line) && !complaint.includes("could not bind"))
      complaint = line.replace(/^.*?(?:LOG|FATAL|PANIC): +/u, "");
    if (line.includes("database system is ready to accept connections")) resolve(undefined);
  });
  child.once("error", (error) => refuse(error.message));
  child.once("close", () => refuse(complaint));
  const timer = setTimeout(() => {
    child.kill("SIGQUIT");
    refuse(`not ready after ${startMs / 1000} s`);
  }, startMs);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
}

async function stop(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  // Fast shutdown, then the one without a checkpoint, then none: a later start recovers from all three.
  for (const [signal, patienceMs] of [
    ["SIGINT", 20_000],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ] as const) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([gone, late]);
    clearTimeout(timer);
  }
}

function dismissWatcher(child: ChildProcess): void {
  const line = child.stdio[3];
  if (!(line instanceof Writable)) return;
  line.on("error", () => undefined); // The watcher may have been killed before us.
  line.end("the server is gone\n");
}

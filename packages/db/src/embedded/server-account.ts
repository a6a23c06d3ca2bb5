import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/** The unprivileged account under which the server runs when its caller is root. */
export interface ServerAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Null for an ordinary caller, whose own account will do. Postgres refuses root, and initdb refuses a uid that has no name. */
export async function serverAccount(): Promise<ServerAccount | null> {
  if (process.getuid?.() !== 0) return null;
  const accounts = parseAccounts(await readFile("/etc/passwd", "utf8"));
  for (const name of ["postgres", "_postgres", "nobody"]) {
    const account = accounts.find((candidate) => candidate.name === name);
    if (account !== undefined) return account;
  }
  throw new EmbeddedPostgresError(
    "Postgres refuses to run as root and /etc/passwd names neither postgres nor nobody: run as another user or set DATABASE_URL",
  );
}

function parseAccounts(passwd: string): ServerAccount[] {
  return passwd.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (name === undefined || uid === undefined || gid === undefined) return [];
    const account = { name, uid: Number(uid), gid: Number(gid) };
    return Number.isInteger(account.uid) && Number.isInteger(account.gid) && account.uid !== 0 ? [account] : [];
  });
}

/** Spawn options that make a child that account, with nothing of the caller's environment: it holds secrets. */
export function asAccount(account: ServerAccount | null): { uid?: number; gid?: number; env: NodeJS.ProcessEnv } {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
  return account === null ? { env } : { uid: account.uid, gid: account.gid, env };
}

export interface Finished {
  readonly succeeded: boolean;
  readonly stdout: string;
  /** What the program wrote to stderr, or why it could not be started. */
  readonly complaint: string;
}

/** Runs a program to its end as that account; at most `timeoutMs`. */
export async function runAs(account: ServerAccount | null, command: string, args: readonly string[], timeoutMs: number): Promise<Finished> {
  return await new Promise((resolve) => {
    // The folder of the caller may be closed to the account, and a shell that cannot read its own folder complains.
    execFile(command, args, { ...asAccount(account), cwd: "/", timeout: timeoutMs }, (error, stdout, stderr) => {
      resolve({ succeeded: error === null, stdout, complaint: stderr.trim() || (error?.message ?? "") });
    });
  });
}

/** Whether that account may pass through the folder, all its parents included. */
export async function canReach(account: ServerAccount | null, folder: string): Promise<boolean> {
  if (account === null) return true;
  return (await runAs(account, "/bin/sh", ["-c", 'cd -- "$1"', "sh", folder], 10_000)).succeeded;
}

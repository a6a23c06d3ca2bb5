import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/** How the command line of a server names the process that started it; see `ownerOf`. */
export const clusterNamePrefix = "holdfast-";

const graceMs = 2_000;
const shutdownMs = 30_000;

/**
 * Makes sure that nobody serves the data folder, or throws with the process that does.
 *
 * Postgres itself guards the folder with postmaster.pid, but believes any process of that number: an unrelated one, for in a restarted
 * container numbers repeat, and a dead one that nobody has collected. The file of a dead server would keep the folder closed for good.
 */
export async function clearTheWay(pgdata: string, log: (line: string) => void): Promise<void> {
  const deadline = Date.now() + shutdownMs;
  const graceEnds = Date.now() + graceMs;
  let signalled = false;
  for (;;) {
    const postmaster = await readPostmasterFile(pgdata);
    if (postmaster === null) return;
    const command = await commandLine(postmaster.pid);
    if (command === null || !path.basename(command[0] ?? "").startsWith("postgres")) {
      // Its sessions may outlive a killed server for a moment, and a second server beside them would destroy the data.
      if (!(await isAttached(postmaster.segment))) return await removeStale(pgdata, postmaster.pid, log);
      if (Date.now() > deadline)
        throw new EmbeddedPostgresError(`sessions of a dead server still use ${pgdata}: end them or restart the machine`);
    } else {
      const owner = ownerOf(command);
      const isOrphan = command.includes(pgdata) && owner !== null && (await commandLine(owner)) === null;
      if (isOrphan && !signalled) {
        log(`stopping the server ${postmaster.pid}, left behind by the dead process ${owner}`);
        signal(postmaster.pid);
        signalled = true;
      }
      if (Date.now() > (isOrphan || postmaster.status === "stopping" ? deadline : graceEnds)) {
        throw new EmbeddedPostgresError(
          `the data folder ${pgdata} is in use by process ${owner ?? "unknown"} (its Postgres is process ${postmaster.pid}): stop that one or choose another folder`,
        );
      }
    }
    await delay(50);
  }
}

async function removeStale(pgdata: string, pid: number, log: (line: string) => void): Promise<void> {
  // Elsewhere than on Linux we cannot see attached sessions, and leave the verdict to Postgres.
  if (process.platform !== "linux" || !isAlive(pid)) return;
  log(`postmaster.pid of a dead server names process ${pid}, which is none: removed`);
  await rm(path.join(pgdata, "postmaster.pid"), { force: true });
}

interface PostmasterFile {
  readonly pid: number;
  /** Id of the shared memory segment that every process of the server keeps attached. */
  readonly segment: string;
  /** starting, stopping, ready or standby; empty while the file is being written. */
  readonly status: string;
}

async function readPostmasterFile(pgdata: string): Promise<PostmasterFile | null> {
  const text = await readFile(path.join(pgdata, "postmaster.pid"), "utf8").catch(() => null);
  if (text === null) return null;
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, segment: (lines[6] ?? "").trim().split(/\s+/u)[1] ?? "", status: (lines[7] ?? "").trim() };
}

async function isAttached(segment: string): Promise<boolean> {
  const table = await readFile("/proc/sysvipc/shm", "utf8").catch(() => "");
  const [header, ...rows] = table.split("\n").map((line) => line.trim().split(/\s+/u));
  const id = header?.indexOf("shmid") ?? -1;
  const attached = header?.indexOf("nattch") ?? -1;
  return rows.some((row) => row[id] === segment && Number(row[attached]) > 0);
}

/** The words of a live process' command line, or null when there is no such process. */
async function commandLine(pid: number): Promise<string[] | null> {
  if (!isAlive(pid)) return null;
  if (process.platform === "linux") {
    // World readable, unlike /proc/PID/cwd and exe, for which root in a container lacks the capability.
    const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    // A zombie has no command line: it holds nothing and awaits only its parent.
    return text === "" ? null : text.split("\0");
  }
  const { stdout } = await promisify(execFile)("ps", ["-o", "command=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim() === "" ? null : stdout.trim().split(" ");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function ownerOf(command: readonly string[]): number | null {
  const setting = command.find((word) => word.startsWith(`cluster_name=${clusterNamePrefix}`));
  const owner = Number(setting?.slice(`cluster_name=${clusterNamePrefix}`.length));
  return Number.isInteger(owner) && owner > 0 ? owner : null;
}

function signal(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch {
    // It ended by itself meanwhile, which the next look at its file finds out.
  }
}

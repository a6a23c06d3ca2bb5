import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { exists } from "./exists.ts";
import { runAs, type ServerAccount } from "./server-account.ts";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, the one a data folder must have been made by. */
  readonly major: number;
}

/**
 * The Postgres programs of this platform, in a place where the account can execute them.
 *
 * A clone below a closed folder such as /root is out of the account's reach; then the programs are copied, once per release of the package.
 */
export async function postgresBinaries(account: ServerAccount | null): Promise<PostgresBinaries> {
  const installed = installedPackage();
  await linkLibraries(installed.folder);
  const first = await probe(account, installed.native);
  if (first.binaries !== null) return first.binaries;
  if (account === null) throw new EmbeddedPostgresError(`the embedded Postgres does not run here: ${first.complaint}`);
  const complaints = [first.complaint];
  for (const parent of ["/var/cache/holdfast", "/var/tmp/holdfast-root", path.join(tmpdir(), "holdfast-root")]) {
    const copy = await copyTo(parent, installed).catch((error: unknown) => ({ complaint: String(error) }));
    const result = typeof copy === "string" ? await probe(account, copy) : { binaries: null, complaint: copy.complaint };
    if (result.binaries !== null) return result.binaries;
    complaints.push(result.complaint);
  }
  throw new EmbeddedPostgresError(
    `the account ${account.name} cannot execute the embedded Postgres, nor a copy of it: ${complaints.join("; ").replaceAll(/\s+/gu, " ")}`,
  );
}

interface InstalledPackage {
  readonly folder: string;
  readonly native: string;
  readonly release: string;
}

/**
 * Only the platform package is loaded, never `embedded-postgres` itself: importing that one installs exit handlers which end the process on
 * SIGTERM before our drain, and its class would create an account on the machine, listen on a socket in /tmp and hand our environment on.
 */
function installedPackage(): InstalledPackage {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    // The platform package is a dependency of the library, not of ours.
    const requireFromLibrary = createRequire(require.resolve("embedded-postgres"));
    const folder = path.dirname(path.dirname(requireFromLibrary.resolve(`@embedded-postgres/${platform}`)));
    const { version } = z.object({ version: z.string() }).parse(require(path.join(folder, "package.json")));
    return { folder, native: path.join(folder, "native"), release: `postgres-${version}-${platform}` };
  } catch (cause) {
    throw new EmbeddedPostgresError(`there is no embedded Postgres for ${platform}: set DATABASE_URL`, { cause });
  }
}

const links = z.array(z.object({ source: z.string(), target: z.string() }));

/** npm packages cannot hold symbolic links; the package makes them in an install script, which npm may have been told not to run. */
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(path.join(folder, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of links.parse(JSON.parse(list))) {
    const link = path.join(folder, target);
    if (await exists(link)) continue;
    await symlink(path.relative(path.dirname(target), source), link).catch((error: unknown) => {
      // Lost against another process that links at this moment; a folder we may not write is reported by the probe that follows.
      void error;
    });
  }
}

async function probe(account: ServerAccount | null, native: string): Promise<{ binaries: PostgresBinaries | null; complaint: string }> {
  const postgres = path.join(native, "bin", "postgres");
  const initdb = path.join(native, "bin", "initdb");
  const result = await runAs(account, postgres, ["--version"], 20_000);
  const major = /\(PostgreSQL\) (\d+)/u.exec(result.stdout)?.[1];
  if (!result.succeeded || major === undefined) return { binaries: null, complaint: result.complaint };
  return { binaries: { initdb, postgres, major: Number(major) }, complaint: "" };
}

/** Returns the copy's folder. It appears by a rename, so it is whole or absent, also when several processes copy at once. */
async function copyTo(parent: string, installed: InstalledPackage): Promise<string> {
  const target = path.join(parent, installed.release);
  await mkdir(parent, { recursive: true, mode: 0o755 });
  // What lies there will be executed: in a folder that somebody else can write, anybody could have put it there.
  const { uid, mode } = await lstat(parent);
  if (uid !== 0 || (mode & 0o022) !== 0) throw new EmbeddedPostgresError(`${parent} can be written by others than root`);
  await chmod(parent, 0o755);
  if (await exists(target)) return target;
  const temporary = await mkdtemp(`${target}-`);
  try {
    await cp(installed.native, temporary, { recursive: true, verbatimSymlinks: true, filter: (source) => !source.endsWith(".a") });
    await openToAll(temporary);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (!(await exists(target))) throw error;
  }
  return target;
}

/** An install under a strict umask leaves files that only root may read. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(file, 0o755);
    if (entry.isFile()) await chmod(file, ((await lstat(file)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

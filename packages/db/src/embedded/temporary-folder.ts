import { chown, mkdtemp, realpath, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { canReach, type ServerAccount } from "./server-account.ts";

const roomyBytes = 2 ** 31;

/**
 * In the first temporary folder that the server's account can reach; root's own may be closed to it. Memory comes first where there is plenty:
 * a test database is some hundred small files, and making them on a busy disk takes ten times as long.
 */
export async function temporaryFolder(account: ServerAccount | null): Promise<string> {
  for (const parent of new Set(["/dev/shm", tmpdir(), "/tmp", "/var/tmp"])) {
    if (parent === "/dev/shm" && (await freeBytes(parent)) < roomyBytes) continue;
    if (!(await canReach(account, parent))) continue;
    const folder = await realpath(await mkdtemp(path.join(parent, "holdfast-postgres-")));
    if (account !== null) await chown(folder, account.uid >>> 0, account.gid >>> 0);
    return folder;
  }
  throw new EmbeddedPostgresError(`the account ${account?.name ?? ""} reaches no temporary folder`);
}

async function freeBytes(folder: string): Promise<number> {
  return await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
}

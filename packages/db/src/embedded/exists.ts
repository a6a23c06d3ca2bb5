import { lstat } from "node:fs/promises";

/** Whether something has this name, be it a link to nowhere. */
export async function exists(file: string): Promise<boolean> {
  return await lstat(file).then(
    () => true,
    () => false,
  );
}

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { TaskWorld } from "./task-world.ts";

/** The files of the world's workspace. */
export interface ModFiles {
  readonly folder: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Null when it is not there. */
  read(file: string): Promise<string | null>;
  /** All that is in it, hidden folders of ours included. */
  list(): Promise<readonly string[]>;
}

export function modFiles({ root }: Pick<TaskWorld, "root">): ModFiles {
  const folder = path.join(root, "mod");
  return {
    folder,
    async write(files) {
      for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
    },
    read: (file) => readFile(path.join(folder, file), "utf8").catch(() => null),
    list: async () => (await readdir(folder, { recursive: true })).toSorted(),
  };
}

export function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

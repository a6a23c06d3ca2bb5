import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmdirSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { taskIdSchema, type FileVersion, type JournalState } from "@holdfast/core";
import { afterAll, expect, test } from "vitest";
import { applyPlan } from "./carry-out.ts";

const KIB = 1024;
const disk = mountDisk(256);
afterAll(() => {
  if (disk !== null) unmount(disk);
});

test.skipIf(disk === null)("a plan that fills the disk is undone there, with the space that its own leavings gave back", async () => {
  const folder = disk ?? "";
  const before = ["a", "b", "c"].map((letter) => letter.repeat(56 * KIB));
  // The last one does not fit beside the others.
  const after = ["A".repeat(56 * KIB), "B".repeat(56 * KIB), "C".repeat(120 * KIB)];
  const names = ["a.txt", "b.txt", "c.txt"];
  const text = (from: readonly string[], index: number) => from[index] ?? "";
  for (const [index, name] of names.entries()) await writeFile(path.join(folder, name), text(before, index));
  const moves: JournalState[] = [];
  const end = await applyPlan({
    place: { folder, attempt: { taskId: taskIdSchema.parse("0190b8a0-0000-7000-8000-000000000001"), token: 1 } },
    files: names.map((name, index) => ({ path: name, before: version(text(before, index)), after: version(text(after, index)) })),
    move: async (_, to) => void moves.push(to),
    assertHeld: () => undefined,
  });
  expect(end).toMatchObject({ kind: "restored", paths: [], cause: { code: "ENOSPC" } });
  expect(moves.at(-1)).toBe("restored");
  expect(await Promise.all(names.map((name) => readFile(path.join(folder, name), "utf8")))).toEqual(before);
  expect(await readdir(folder)).toEqual(names);
});

function version(text: string): FileVersion {
  return { bytes: Buffer.from(text), sha256: createHash("sha256").update(text).digest("hex") };
}

/** A file system of so many KiB; null where this process may not mount one. */
function mountDisk(sizeKib: number): string | null {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizeKib}k`, "tmpfs", folder], { stdio: "ignore" });
    return folder;
  } catch {
    rmdirSync(folder);
    return null;
  }
}

function unmount(folder: string): void {
  execFileSync("umount", [folder], { stdio: "ignore" });
  rmdirSync(folder);
}

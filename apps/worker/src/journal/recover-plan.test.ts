import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { taskIdSchema, type FileVersion, type JournalFile } from "@holdfast/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyPlan, AttemptLost, type BoundPlan, type PlanEnd } from "./carry-out.ts";
import { recoverPlan } from "./recover-plan.ts";

const taskId = taskIdSchema.parse("0190b8a0-0000-7000-8000-000000000001");
const version = (text: string): FileVersion => ({
  bytes: Buffer.from(text),
  sha256: createHash("sha256").update(text).digest("hex"),
});
const files: readonly JournalFile[] = [
  { path: "a.txt", before: version("a before"), after: version("a after") },
  { path: "b.txt", before: version("b before"), after: version("b after") },
  { path: "c.txt", before: version("c before"), after: null },
  { path: "d.txt", before: null, after: version("d after") },
];

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-recover-")));
  for (const { path: name, before } of files) if (before !== null) await writeFile(path.join(folder, name), before.bytes);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const read = (name: string) => readFile(path.join(folder, name), "utf8").catch(() => null);
const contents = () => Promise.all(files.map((file) => read(file.path)));

/** A plan whose attempt believes that it holds its task: a process that was stopped has not looked at its clock since. */
function planOf(token: number, move: BoundPlan["move"]): BoundPlan {
  return { place: { folder, attempt: { taskId, token } }, files, move, assertHeld: () => undefined };
}

test.each(files.map((file, index) => [file.path, index + 1] as const))(
  "an attempt that was permitted to replace %s, and stopped until another one had undone its plan, changes nothing any more",
  async (_, permission) => {
    let asked = 0;
    let taken: PlanEnd | null = null;
    const stopped: BoundPlan["move"] = async (_from, to) => {
      // The first question is whether it may begin, the next ones are for its files.
      if (asked > permission || to !== "applying") throw new AttemptLost("another attempt has taken over");
      const successor = planOf(2, async () => undefined);
      if (asked === permission) taken = await recoverPlan(successor, { state: "applying", cancelRequested: true });
      asked += 1;
    };
    await expect(applyPlan(planOf(1, stopped))).rejects.toThrow(AttemptLost);
    expect(taken).toMatchObject({ kind: "restored", paths: [] });
    expect(await contents()).toEqual(["a before", "b before", "c before", null]);
    expect((await readdir(folder)).toSorted()).toEqual(["a.txt", "b.txt", "c.txt"]);
  },
);

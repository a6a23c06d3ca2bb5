import { createHash } from "node:crypto";
import { chmod, link, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { taskIdSchema, type FileVersion } from "@holdfast/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeParentFolder, PlaceError, removeFolders, type PlanPlace } from "./plan-place.ts";
import { ForeignChange, replaceFile } from "./replace-file.ts";

const taskId = taskIdSchema.parse("0190b8a0-0000-7000-8000-000000000001");
let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-replace-")));
  await writeFile(path.join(folder, "a.txt"), "old");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const version = (text: string): FileVersion => {
  const bytes = Buffer.from(text);
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
};
const place = (token = 1): PlanPlace => ({ folder, attempt: { taskId, token } });
const read = (name: string) => readFile(path.join(folder, name), "utf8").catch(() => null);

interface Change {
  readonly path?: string;
  readonly from: string | null;
  readonly to: string | null;
  /** What happens between the permission to replace and the replacement. */
  readonly meanwhile?: () => Promise<unknown>;
}

function replace({ path: name = "a.txt", from, to, meanwhile = () => Promise.resolve() }: Change): Promise<void> {
  return replaceFile(place(), {
    path: name,
    position: 0,
    from: from === null ? null : version(from),
    to: to === null ? null : version(to),
    mayWrite: async () => void (await meanwhile()),
    assertHeld: () => undefined,
  });
}

test("a file is replaced, made and removed, and is as it should be when that is done again", async () => {
  await chmod(path.join(folder, "a.txt"), 0o604);
  for (let round = 0; round < 2; round += 1) {
    await replace({ from: "old", to: "new" });
    await replace({ path: "sub/b.txt", from: null, to: "made" });
    expect([await read("a.txt"), await read("sub/b.txt")]).toEqual(["new", "made"]);
  }
  expect((await stat(path.join(folder, "a.txt"))).mode & 0o777).toBe(0o604);
  await replace({ from: "new", to: null });
  await replace({ from: "new", to: null });
  await removeFolders(place(), [{ path: "a.txt" }, { path: "sub/b.txt" }], "own");
  expect(await readdir(folder, { recursive: true })).toEqual(["sub", path.join("sub", "b.txt")]);
});

test("a file that was removed comes back as it was, and what has another name of it is not written into", async () => {
  const other = path.join(folder, "other.txt");
  await link(path.join(folder, "a.txt"), other);
  await chmod(other, 0o604);
  const { mtimeNs } = await stat(other, { bigint: true });
  await replace({ from: "old", to: null });
  await replace({ from: null, to: "old" });
  expect([await read("a.txt"), (await stat(path.join(folder, "a.txt"))).mode & 0o777]).toEqual(["old", 0o604]);
  // With other bytes, the file that was taken away is not written into either.
  await replace({ from: "old", to: null });
  await replace({ from: null, to: "new" });
  expect([await read("a.txt"), await read("other.txt")]).toEqual(["new", "old"]);
  expect((await stat(other, { bigint: true })).mtimeNs).toBe(mtimeNs);
});

describe("an attempt that was permitted to write, paused, and replaced by another one, changes nothing", () => {
  // The file is as the paused attempt expects it, so that nothing but the fence is in its way.
  const takeOver = () => removeFolders(place(2), [{ path: "a.txt" }, { path: "b.txt" }], "earlier");

  test.each<[string, Change]>([
    ["when it would replace", { from: "old", to: "new" }],
    ["when it would remove", { from: "old", to: null }],
    ["when it would make", { path: "b.txt", from: null, to: "new" }],
  ])("%s", async (_, change) => {
    await expect(replace({ ...change, meanwhile: takeOver })).rejects.toMatchObject({ code: "ENOENT" });
    expect([await read("a.txt"), await read("b.txt")]).toEqual(["old", null]);
  });
});

test("taking over leaves the folders of the own attempt, of later ones and of other tasks alone", async () => {
  const other = taskIdSchema.parse("0190b8a0-0000-7000-8000-000000000002");
  const stay = [`.holdfast-${taskId}-9`, `.holdfast-${taskId}-10`, `.holdfast-${taskId}-x`, `.holdfast-${other}-1`];
  for (const name of [`.holdfast-${taskId}-8`, ...stay]) await mkdir(path.join(folder, name));
  await removeFolders(place(9), [{ path: "a.txt" }], "earlier");
  expect((await readdir(folder)).toSorted()).toEqual([...stay, "a.txt"].toSorted());
});

test("an attempt that was paused while it took over, and replaced itself, does not disturb the one that replaced it", async () => {
  const takingOver = () => removeFolders(place(), [{ path: "a.txt" }], "earlier");
  await replaceFile(place(2), {
    path: "a.txt",
    position: 0,
    from: version("old"),
    to: version("new"),
    mayWrite: takingOver,
    assertHeld: () => undefined,
  });
  expect(await read("a.txt")).toBe("new");
});

describe("what somebody else does in the last moment is not overwritten", () => {
  const foreign = (name: string) => () => writeFile(path.join(folder, name), "foreign");

  test.each<[string, Change]>([
    ["a change", { from: "old", to: "new", meanwhile: () => foreign("a.txt")() }],
    ["a change of what is to be removed", { from: "old", to: null, meanwhile: () => foreign("a.txt")() }],
    ["a new file", { path: "b.txt", from: null, to: "new", meanwhile: () => foreign("b.txt")() }],
    ["a removal", { from: "old", to: "new", meanwhile: () => rm(path.join(folder, "a.txt")) }],
    [
      "a link in its place",
      {
        from: "old",
        to: "new",
        meanwhile: async () => {
          await rm(path.join(folder, "a.txt"));
          await symlink("elsewhere.txt", path.join(folder, "a.txt"));
        },
      },
    ],
  ])("%s", async (_, change) => {
    await expect(replace(change)).rejects.toThrow(ForeignChange);
    expect([await read("a.txt"), await read("b.txt")]).not.toContain("new");
  });
});

test("a file that is not what the plan says is not even prepared for", async () => {
  await expect(replace({ from: "other", to: "new" })).rejects.toThrow(ForeignChange);
  expect(await readdir(folder)).toEqual(["a.txt"]);
});

test("nothing is made behind a link", async () => {
  const elsewhere = await mkdtemp(path.join(tmpdir(), "holdfast-elsewhere-"));
  await symlink(elsewhere, path.join(folder, "link"));
  await expect(replace({ path: "link/deep/x.txt", from: null, to: "new" })).rejects.toThrow(ForeignChange);
  await expect(makeParentFolder(place(), "link/deep/x.txt")).rejects.toThrow(PlaceError);
  expect(await readdir(elsewhere)).toEqual([]);
  await rm(elsewhere, { recursive: true });
});

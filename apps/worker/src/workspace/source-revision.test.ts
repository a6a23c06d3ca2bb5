import { mkdir, mkdtemp, realpath, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sourceRevision } from "./source-revision.ts";

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-revision-")));
  await mkdir(path.join(root, "mod/sub"), { recursive: true });
  await writeFile(path.join(root, "mod/a.txt"), "one");
  await writeFile(path.join(root, "mod/sub/b.txt"), "two");
});
afterEach(() => rm(root, { recursive: true, force: true }));

const revision = (folder = "mod") => sourceRevision({ root, path: folder });
const inMod = (name: string) => path.join(root, "mod", name);

test("files that nobody touched have the same revision, however often one looks", async () => {
  expect(await revision()).toBe(await revision());
});

test.each<[string, () => Promise<unknown>]>([
  ["a file has other bytes of the same length", () => writeFile(inMod("a.txt"), "eno")],
  [
    "a file was changed and its time put back",
    async () => {
      await writeFile(inMod("a.txt"), "eno");
      await utimes(inMod("a.txt"), 1, 1);
    },
  ],
  ["a file of a folder was changed", () => writeFile(inMod("sub/b.txt"), "owt")],
  ["a file came", () => writeFile(inMod("sub/c.txt"), "")],
  ["a file went", () => rm(inMod("sub/b.txt"))],
  ["a file has another name", () => rename(inMod("a.txt"), inMod("z.txt"))],
  ["a link shows another file", () => symlink("sub/b.txt", inMod("link.txt"))],
])("it is another one after %s", async (_, change) => {
  // The time stamps of some file systems are coarse; nothing is called settled that could change unseen.
  await utimes(inMod("a.txt"), 1, 1);
  const before = await revision();
  await change();
  expect(await revision()).not.toBe(before);
});

test.each<[string, () => Promise<unknown>]>([
  ["a hidden folder", () => mkdir(inMod(".git")).then(() => writeFile(inMod(".git/index"), "x"))],
  ["a neighbour", () => writeFile(path.join(root, "other.txt"), "x")],
  ["a link that leads out of the workspace", () => symlink("../other.txt", inMod("link.txt"))],
  ["an empty folder", () => mkdir(inMod("empty"))],
])("what the view does not show does not count: %s", async (_, change) => {
  await writeFile(path.join(root, "other.txt"), "");
  const before = await revision();
  await change();
  expect(await revision()).toBe(before);
});

test("a workspace that is not there has a revision, and it is not that of an empty one", async () => {
  await mkdir(path.join(root, "empty"));
  expect(await revision("gone")).toBe(await revision("gone"));
  expect(await revision("gone")).not.toBe(await revision("empty"));
});

test("a workspace that leads out of its root is never the same twice", async () => {
  await symlink("/", path.join(root, "everything"));
  expect(await revision("everything")).not.toBe(await revision("everything"));
});

test("a file that was just written is looked at again, when another change of it would show", async () => {
  await writeFile(inMod("a.txt"), "new");
  const startedAt = performance.now();
  await revision();
  expect(performance.now() - startedAt).toBeGreaterThan(10);
});

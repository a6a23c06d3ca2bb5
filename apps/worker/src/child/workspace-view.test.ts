import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { WorkspaceError } from "@holdfast/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { viewWorkspace } from "./workspace-view.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "holdfast-view-"));
});
afterEach(() => rm(root, { recursive: true }));

async function files(contents: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
}

const view = (folder = "") => viewWorkspace({ id: "current", root, path: folder, revision: "r" });
const codeOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "read",
    (error: unknown) => (error instanceof WorkspaceError ? error.code : error),
  );

test("files are listed in code-unit order of their paths, with their sizes", async () => {
  await files({ "b.txt": "12", "B.txt": "1", "a/z.txt": "", "a-b.txt": "", "é.txt": "é" });
  expect(await view().list("")).toEqual([
    { path: "B.txt", size: 1 },
    { path: "a-b.txt", size: 0 },
    { path: "a/z.txt", size: 0 },
    { path: "b.txt", size: 2 },
    { path: "é.txt", size: 2 },
  ]);
  expect(await view().list("a")).toEqual([{ path: "a/z.txt", size: 0 }]);
});

test("a workspace is the folder below its root, and nothing beside it", async () => {
  await files({ "mod/in.txt": "in", "mod-two/out.txt": "out" });
  expect((await view("mod").list("")).map((file) => file.path)).toEqual(["in.txt"]);
  expect(Buffer.from(await view("mod").read("in.txt")).toString()).toBe("in");
  expect(await codeOf(view("mod").read("../mod-two/out.txt"))).toBe("outside");
});

test("hidden folders are not part of the view", async () => {
  await files({ ".git/config": "secret", "sub/.cache/x": "secret", ".metadata": "shown" });
  expect((await view().list("")).map((file) => file.path)).toEqual([".metadata"]);
  expect(await codeOf(view().read(".git/config"))).toBe("missing");
});

test("links are followed to what lies inside, and to nothing else", async () => {
  await files({ "mod/real.txt": "real", "outside.txt": "private", "mod/sub/x.txt": "x" });
  await symlink("real.txt", path.join(root, "mod/inside-link.txt"));
  await symlink("../outside.txt", path.join(root, "mod/outside-link.txt"));
  await symlink(root, path.join(root, "mod/upwards"));
  await symlink("sub", path.join(root, "mod/folder-link"));
  await symlink("nowhere", path.join(root, "mod/dangling"));
  expect((await view("mod").list("")).map((file) => file.path)).toEqual(["inside-link.txt", "real.txt", "sub/x.txt"]);
  expect(Buffer.from(await view("mod").read("inside-link.txt")).toString()).toBe("real");
  expect(await codeOf(view("mod").read("outside-link.txt"))).toBe("outside");
  expect(await codeOf(view("mod").read("upwards/outside.txt"))).toBe("outside");
  expect(await codeOf(view("mod").list("upwards"))).toBe("outside");
});

test("a workspace folder that is itself a link out of its root is refused", async () => {
  const elsewhere = await mkdtemp(path.join(tmpdir(), "holdfast-elsewhere-"));
  await symlink(elsewhere, path.join(root, "mod"));
  expect(await codeOf(view("mod").list(""))).toBe("outside");
  await rm(elsewhere, { recursive: true });
});

test("a root may be a link: it is what the operator declared", async () => {
  await files({ "real/mod/a.txt": "a" });
  await symlink(path.join(root, "real"), path.join(root, "link"));
  expect(await viewWorkspace({ id: "current", root: path.join(root, "link"), path: "mod", revision: "r" }).list("")).toHaveLength(1);
});

test.each(["/etc/passwd", "..", "a/../../b", "../x"])("the path %s leads outside", async (name) => {
  expect(await codeOf(view().read(name))).toBe("outside");
});

test.each(["nope.txt", "a.txt/b", "./a.txt", "sub//x", "a\0b", "n".repeat(300)])("the path %j names nothing", async (name) => {
  await files({ "a.txt": "a", "sub/x": "x" });
  expect(await codeOf(view().read(name))).toBe("missing");
});

test("a folder cannot be read, and a workspace that is not there is missing", async () => {
  await files({ "sub/x": "x" });
  expect(await codeOf(view().read("sub"))).toBe("unreadable");
  expect(await codeOf(view("gone").list(""))).toBe("missing");
  expect(await codeOf(view().list("gone"))).toBe("missing");
});

test.skipIf(process.getuid?.() === 0)("a folder that may not be read is reported, not left out", async () => {
  await files({ "sub/x": "x", "a.txt": "a" });
  await chmod(path.join(root, "sub"), 0);
  expect(await codeOf(view().list(""))).toBe("unreadable");
  await chmod(path.join(root, "sub"), 0o700);
});

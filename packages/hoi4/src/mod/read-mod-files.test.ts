import { describe, expect, test } from "vitest";
import { keepPace } from "../pace.ts";
import { listFiles } from "../testing/list-files.ts";
import { memoryWorkspace, type MemoryWorkspaceOptions } from "../testing/memory-workspace.ts";
import { recordingContext } from "../testing/recording-context.ts";
import { readModFiles, SCAN_LIMITS, type ScanLimits } from "./read-mod-files.ts";

interface Options extends MemoryWorkspaceOptions {
  readonly limits?: Partial<ScanLimits>;
}

async function read(files: Record<string, string>, { limits, ...options }: Options = {}) {
  const context = recordingContext(memoryWorkspace(files, options));
  const listing = await listFiles(context.workspace);
  return readModFiles({ context, listing, pace: keepPace(context.signal), limits: { ...SCAN_LIMITS, ...limits } });
}

async function snapshot(files: Record<string, string>, options?: Options) {
  const result = await read(files, options);
  if ("code" in result) throw new Error(result.message);
  return result;
}

const MOD = { "descriptor.mod": 'name="M"', "events/a.txt": "1", "events/b.txt": "2", "localisation/a_l_english.yml": "3" };

describe("the revision", () => {
  const revisionOf = async (files: Record<string, string>, options?: Options) => (await snapshot(files, options)).revision;

  test("is the same for the same files in whatever order they are listed", async () => {
    expect(await revisionOf(MOD, { arrange: (paths) => paths.toReversed() })).toBe(await revisionOf(MOD));
    expect(await revisionOf({ ...MOD, "README.md": "not scanned" })).toBe(await revisionOf(MOD));
  });

  test.each<[string, Record<string, string>]>([
    ["content", { ...MOD, "events/a.txt": "9" }],
    ["content of a localisation", { ...MOD, "localisation/a_l_english.yml": "9" }],
    ["content of the descriptor", { ...MOD, "descriptor.mod": 'name="N"' }],
    ["contents that changed places", { ...MOD, "events/a.txt": "2", "events/b.txt": "1" }],
    ["a path", { "descriptor.mod": MOD["descriptor.mod"], "events/a.txt": "1", "events/c.txt": "2", "localisation/a_l_english.yml": "3" }],
    ["a file more", { ...MOD, "events/c.txt": "" }],
  ])("changes with %s", async (_what, files) => {
    expect(await revisionOf(files)).not.toBe(await revisionOf(MOD));
  });

  test("changes when a file can no longer be read", async () => {
    expect(await revisionOf(MOD, { faults: { "events/a.txt": "unreadable" } })).not.toBe(await revisionOf(MOD));
  });
});

describe("a file that cannot be taken in", () => {
  test.each([
    ["missing", "FILE_VANISHED"],
    ["unreadable", "FILE_UNREADABLE"],
    ["outside", "FILE_OUTSIDE_WORKSPACE"],
  ] as const)("because it is %s is listed with what it could define, and the others are read", async (fault, reason) => {
    const { files, skipped } = await snapshot(MOD, { faults: { "events/a.txt": fault } });
    expect(skipped).toEqual([{ path: "mod:events/a.txt", reasonCodes: [reason], possibleSymbolKinds: ["event"] }]);
    expect(files.map(({ file }) => file.path)).toEqual(["events/b.txt", "localisation/a_l_english.yml"]);
  });

  test("because of its size is listed; a script has a smaller limit than a localisation", async () => {
    const files = { "events/a.txt": "x".repeat(20), "events/b.txt": "x".repeat(40), "localisation/a_l_english.yml": "x".repeat(20) };
    const { skipped, files: loaded } = await snapshot(files, { limits: { scriptBytes: 10, fileBytes: 30 } });
    expect(skipped.map(({ path, reasonCodes }) => [path, ...reasonCodes])).toEqual([
      ["mod:events/a.txt", "SCRIPT_TOO_LARGE"],
      ["mod:events/b.txt", "FILE_TOO_LARGE"],
    ]);
    expect(loaded.map(({ file }) => file.path)).toEqual(["localisation/a_l_english.yml"]);
  });

  test("an unreadable descriptor leaves open what the mod replaces", async () => {
    const listing = await listFiles(memoryWorkspace(MOD, { faults: { "descriptor.mod": "unreadable" } }));
    expect(listing.descriptor.name).toBeNull();
    const skipped = [{ path: "mod:descriptor.mod", reasonCodes: ["FILE_UNREADABLE"], possibleSymbolKinds: ["replace_path"] }];
    expect([listing.skipped, (await snapshot(MOD, { faults: { "descriptor.mod": "unreadable" } })).skipped]).toEqual([skipped, skipped]);
  });

  test("a descriptor as large as no launcher writes one is left unread, by its listed size and by its real one", async () => {
    const honest = memoryWorkspace({ ...MOD, "descriptor.mod": `name = "${"M".repeat(100)}"` });
    const lying = { ...honest, list: async (folder: string) => (await honest.list(folder)).map((file) => ({ ...file, size: 1 })) };
    for (const workspace of [honest, lying]) {
      expect(await listFiles(workspace, { descriptorBytes: 50 })).toMatchObject({
        descriptor: { name: null },
        skipped: [{ path: "mod:descriptor.mod", reasonCodes: ["SCRIPT_TOO_LARGE"], possibleSymbolKinds: ["replace_path"] }],
      });
    }
  });

  test("a fault that is not the workspace's is thrown", async () => {
    const intact = memoryWorkspace(MOD);
    const burning = (wanted: string) => ({
      ...intact,
      read: (path: string) => (path === wanted ? Promise.reject(new Error("disk on fire")) : intact.read(path)),
    });
    await expect(listFiles(burning("descriptor.mod"))).rejects.toThrow("disk on fire");
    const context = recordingContext(burning("events/a.txt"));
    const listing = await listFiles(context.workspace);
    await expect(readModFiles({ context, listing, pace: keepPace(context.signal) })).rejects.toThrow("disk on fire");
  });
});

describe("layers", () => {
  const layered = (sizes: Record<string, number>) => ({
    "holdfast.json": '{ "hoi4": { "mod": "mine", "game": "game", "dependencies": ["one", "two"] } }',
    "mine/descriptor.mod": "",
    ...Object.fromEntries(Object.entries(sizes).map(([layer, size]) => [`${layer}/events/${layer}.txt`, "x".repeat(size)])),
  });

  test("have the bounds of a scan each for itself, and three times as much together", async () => {
    const limits = { totalBytes: 100 };
    expect(await read(layered({ game: 100, one: 100, mine: 100 }), { limits })).not.toHaveProperty("code");
    expect(await read(layered({ game: 101, mine: 1 }), { limits })).toMatchObject({ code: "SCAN_BYTE_LIMIT" });
    expect(await read(layered({ game: 76, one: 76, two: 76, mine: 76 }), { limits })).toMatchObject({ code: "SCAN_BYTE_LIMIT" });
    const crowd = Object.fromEntries(Array.from({ length: 3 }, (_, index) => [`game/events/${index}.txt`, ""]));
    expect(await read({ ...layered({ mine: 1 }), ...crowd }, { limits: { files: 2 } })).toMatchObject({
      code: "SCAN_FILE_LIMIT",
      message: expect.stringContaining("The layer game has 3 files") as string,
    });
  });

  test.each([
    ["the layout puts the layers in another order", { dependencies: ["two", "one"] }],
    ["a layer is left out", { dependencies: ["one"] }],
  ])("make another revision when %s", async (_what, change) => {
    const files = layered({ one: 1, two: 2 });
    const changed = { ...files, "holdfast.json": JSON.stringify({ hoi4: { mod: "mine", game: "game", ...change } }) };
    expect((await snapshot(changed)).revision).not.toBe((await snapshot(files)).revision);
  });
});

describe("a mod that is too large as a whole", () => {
  test("is refused for its number of files before one is read", async () => {
    expect(await read(MOD, { limits: { files: 2 } })).toMatchObject({
      code: "SCAN_FILE_LIMIT",
      message: expect.stringContaining("3 files") as string,
    });
    expect(await read(MOD, { limits: { files: 3 } })).not.toHaveProperty("code");
  });

  test("is refused for its bytes, also when files have grown since they were listed", async () => {
    const files = { "events/a.txt": "x".repeat(60), "events/b.txt": "x".repeat(60) };
    expect(await read(files, { limits: { totalBytes: 100 } })).toMatchObject({ code: "SCAN_BYTE_LIMIT" });
    expect(await read(files, { limits: { totalBytes: 120 } })).not.toHaveProperty("code");
    const honest = memoryWorkspace(files);
    const context = recordingContext({
      ...honest,
      list: async (folder) => (await honest.list(folder)).map((file) => ({ ...file, size: 1 })),
    });
    const listing = await listFiles(context.workspace);
    const limits = { ...SCAN_LIMITS, totalBytes: 100 };
    expect(await readModFiles({ context, listing, pace: keepPace(context.signal), limits })).toMatchObject({
      code: "SCAN_BYTE_LIMIT",
    });
  });
});

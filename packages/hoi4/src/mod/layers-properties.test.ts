import fc from "fast-check";
import { expect, test } from "vitest";
import { listFiles } from "../testing/list-files.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";

const FOLDERS = ["events", "events/sub", "common/decisions", "common/decisions/categories"];

const layerArbitrary = fc.record({
  files: fc.uniqueArray(
    fc.tuple(fc.constantFrom(...FOLDERS), fc.constantFrom("a.txt", "A.txt", "b.txt", "c.TXT")).map((parts) => parts.join("/")),
    {
      selector: (path) => path.toLowerCase(),
      maxLength: 8,
    },
  ),
  replaced: fc.uniqueArray(fc.constantFrom(...FOLDERS, "common", "EVENTS"), { maxLength: 3 }),
});

interface ModelLayer {
  readonly files: readonly string[];
  readonly replaced: readonly string[];
}

/** Asked of each file by itself: does any later layer take it away? */
function survivors(layers: readonly ModelLayer[]): string[] {
  const labels = layers.map((_, index) => (index === layers.length - 1 ? "mod" : `dependency-${index + 1}`));
  return layers.flatMap(({ files }, index) => {
    const later = layers.slice(index + 1);
    const isTaken = (path: string) =>
      later.some(
        (layer) =>
          layer.files.some((other) => other.toLowerCase() === path.toLowerCase()) ||
          layer.replaced.some((folder) => folder.toLowerCase() === path.toLowerCase().slice(0, path.lastIndexOf("/"))),
      );
    return files
      .filter((path) => !isTaken(path))
      .toSorted()
      .map((path) => `${labels[index] ?? ""}:${path}`);
  });
}

test("whatever layers hold and replace, the game reads exactly what no later layer takes away", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(layerArbitrary, { minLength: 1, maxLength: 4 }), async (layers) => {
      const folders = layers.map((_, index) => `layer${index}`);
      const entries = layers.flatMap(({ files, replaced }, index): (readonly [path: string, text: string])[] => [
        [`layer${index}/descriptor.mod`, replaced.map((folder) => `replace_path="${folder}"`).join("\n")],
        ...files.map((path) => [`layer${index}/${path}`, ""] as const),
      ]);
      const hoi4 = { mod: folders.at(-1), dependencies: folders.slice(0, -1) };
      const workspace = memoryWorkspace({ ...Object.fromEntries(entries), "holdfast.json": JSON.stringify({ hoi4 }) });
      const { files, layers: summaries } = await listFiles(workspace);
      expect(files.map(({ displayPath }) => displayPath)).toEqual(survivors(layers));
      const told = summaries.map(({ active, shadowed, replaced }) => active + shadowed + replaced);
      expect(told).toEqual(layers.map((layer) => layer.files.length));
    }),
  );
});

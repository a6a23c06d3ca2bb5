import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);

/**
 * What a child may read: its own code, core, the packs, what those import, and the declared roots. Not the repository
 * as a whole, which may hold keys, data folders and `.env` files.
 */
export function readablePaths(options: { readonly packs: readonly string[]; readonly roots: readonly string[] }): readonly string[] {
  const code = [path.dirname(import.meta.dirname), packageFolder(require.resolve("@holdfast/core")), ...options.packs.map(packFolder)];
  const folders = [...code, ...code.flatMap(dependencyFolders), ...options.roots].flatMap(withRealPath);
  const manifests = code.flatMap(ancestors).map((folder) => path.join(folder, "package.json"));
  // A folder that appears only after the child has started is allowed by its wildcard alone.
  return [...new Set([...folders.flatMap((folder) => [folder, path.join(folder, "*")]), ...manifests.filter((file) => existsSync(file))])];
}

function packFolder(pack: string): string {
  return path.isAbsolute(pack) ? pack : packageFolder(require.resolve(`${pack}/manifest`));
}

function packageFolder(file: string): string {
  const folder = ancestors(path.dirname(file)).find((candidate) => existsSync(path.join(candidate, "package.json")));
  if (folder === undefined) throw new Error(`no package.json above ${file}`);
  return folder;
}

function dependencyFolders(folder: string): readonly string[] {
  return ancestors(folder)
    .map((ancestor) => path.join(ancestor, "node_modules"))
    .filter((candidate) => existsSync(candidate));
}

/** Links are resolved by the module loader and by the workspace view, and both names must be allowed. */
function withRealPath(folder: string): readonly string[] {
  return existsSync(folder) ? [folder, realpathSync(folder)] : [folder];
}

/** From the folder itself up to the root of the file system. */
function ancestors(folder: string): readonly string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

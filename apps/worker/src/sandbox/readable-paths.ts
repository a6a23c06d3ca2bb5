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
  const files = manifests.filter((file) => existsSync(file));
  return allowances([...new Set([...folders, ...files])], new Set(files));
}

/**
 * The paths as `--permission` wants them. A folder inside another one is left out: it is allowed already, and named beside its
 * parent it would hide the parent from listing. So would a path that only begins with a folder's name (`mods` and `mods-old`):
 * Node 24 then denies listing the shorter one, however both are written. Its name with a wildcard is the narrowest that works,
 * and allows whatever else begins with that name; the workspace view keeps operations inside their folder all the same.
 */
function allowances(paths: readonly string[], files: ReadonlySet<string>): readonly string[] {
  const allowed: string[] = [];
  const covered: string[] = [];
  for (const current of paths.toSorted((a, b) => a.length - b.length)) {
    if (covered.some((prefix) => current.startsWith(prefix))) continue;
    if (files.has(current)) {
      allowed.push(current);
      continue;
    }
    const inside = current.endsWith(path.sep) ? current : current + path.sep;
    const hasNamesake = paths.some((other) => other !== current && other.startsWith(current) && !other.startsWith(inside));
    covered.push(hasNamesake ? current : inside);
    // A folder that appears only after the child has started is allowed by its wildcard alone.
    allowed.push(...(hasNamesake ? [`${current}*`] : [current, path.join(current, "*")]));
  }
  return allowed;
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

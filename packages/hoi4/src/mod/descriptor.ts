import { WorkspaceError, type WorkspaceFile, type WorkspaceView } from "@holdfast/core";
import { clipText } from "../clip-text.ts";
import { type Block, blockOf, pairs, parseScript, textOf, valueOf } from "../clausewitz/index.ts";
import { sha256Of } from "../sha256.ts";
import { syntaxDiagnostics, type Diagnostic } from "./diagnostic.ts";
import { workspacePath, type ListedLayer } from "./layer.ts";
import { FILE_FAULTS, type SkippedSource, type SkipReason } from "./skipped-source.ts";

/** What `descriptor.mod` says of a mod, as far as analysis depends on it. */
export interface Descriptor {
  readonly name: string | null;
  readonly version: string | null;
  /** The game versions the mod was made for: `1.16.*`. */
  readonly supportedVersion: string | null;
  /** Names of mods that load before this one. */
  readonly dependencies: readonly string[];
  /** Lower case, without slashes at the ends. */
  readonly replacedFolders: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
}

const NO_DESCRIPTOR: Descriptor = {
  name: null,
  version: null,
  supportedVersion: null,
  dependencies: [],
  replacedFolders: new Set(),
  diagnostics: [],
};

/** A descriptor with what a revision has to know of its file. */
export interface LoadedDescriptor {
  readonly descriptor: Descriptor;
  /** Null when the layer has no descriptor. */
  readonly displayPath: string | null;
  /** SHA-256 of the bytes, or the size of a file that was not read; null when there is none. */
  readonly content: string | null;
  readonly skip: SkippedSource | null;
}

const NOT_THERE: LoadedDescriptor = { descriptor: NO_DESCRIPTOR, displayPath: null, content: null, skip: null };

/** Larger than any launcher writes one. */
const DESCRIPTOR_BYTES = 1024 * 1024;

/** Reads the descriptor of a layer, or what `contents` has in its place. A file that cannot be read leaves open what it says. */
export async function loadDescriptor({
  workspace,
  layer,
  contents,
  descriptorBytes = DESCRIPTOR_BYTES,
}: {
  workspace: WorkspaceView;
  layer: ListedLayer;
  /** By path inside the layer. */
  contents: ReadonlyMap<string, Uint8Array>;
  descriptorBytes?: number | undefined;
}): Promise<LoadedDescriptor> {
  const file = layer.kind === "game" || layer.kind === "dlc" ? null : findDescriptor(layer.files);
  if (file === null) return NOT_THERE;
  const displayPath = `${layer.label}:${file.path}`;
  const skipped = (reason: SkipReason): LoadedDescriptor => ({
    descriptor: NO_DESCRIPTOR,
    displayPath,
    content: `size:${file.size}`,
    skip: { path: displayPath, reasonCodes: [reason], possibleSymbolKinds: ["replace_path"] },
  });
  if (file.size > descriptorBytes) return skipped("SCRIPT_TOO_LARGE");
  try {
    const bytes = contents.get(file.path) ?? (await workspace.read(workspacePath(layer, file.path)));
    if (bytes.length > descriptorBytes) return skipped("SCRIPT_TOO_LARGE");
    return { descriptor: readDescriptor(displayPath, bytes), displayPath, content: sha256Of(bytes), skip: null };
  } catch (error) {
    if (error instanceof WorkspaceError) return skipped(FILE_FAULTS[error.code]);
    throw error;
  }
}

/** `descriptor.mod`, or the only other `.mod` file of the folder: older mods ship the launcher's copy. */
function findDescriptor(listed: readonly WorkspaceFile[]): WorkspaceFile | null {
  const candidates = listed.filter(({ path }) => /^[^/]+\.mod$/iu.test(path));
  const named = candidates.find(({ path }) => path.toLowerCase() === "descriptor.mod");
  return named ?? (candidates.length === 1 ? (candidates[0] ?? null) : null);
}

export function readDescriptor(displayPath: string, bytes: Uint8Array): Descriptor {
  const file = parseScript(bytes);
  const { root } = file;
  return {
    name: textOf(valueOf(root, "name")),
    version: textOf(valueOf(root, "version")),
    supportedVersion: textOf(valueOf(root, "supported_version")),
    dependencies: listTexts(blockOf(valueOf(root, "dependencies"))),
    replacedFolders: new Set([...pairs(root, "replace_path")].flatMap(({ value }) => textOf(value) ?? []).map(normalizeFolder)),
    diagnostics: syntaxDiagnostics(displayPath, file),
  };
}

/**
 * Whether earlier layers' files of exactly this folder are unloaded. A `replace_path` of a parent folder does not count:
 * the game unloads one folder, not the folders inside it.
 */
export function replacesFolder(descriptor: Descriptor, folder: string): boolean {
  return descriptor.replacedFolders.has(normalizeFolder(folder));
}

/** Whose files load before those of the mod and are not read: `the game itself or of "Kaiserreich"`. */
export function othersFiles({ game, dependencies }: { readonly game: boolean; readonly dependencies: readonly string[] }): string {
  const names = dependencies.slice(0, NAMES_LISTED).map((name) => `"${clipText(name, NAME_LENGTH)}"`);
  if (dependencies.length > NAMES_LISTED) names.push("another mod it depends on");
  return [...(game ? ["the game itself"] : []), ...names].join(" or of ");
}

const NAMES_LISTED = 3;
const NAME_LENGTH = 60;

function normalizeFolder(folder: string): string {
  return folder
    .replaceAll("\\", "/")
    .replaceAll(/\/{2,}/gu, "/")
    .replaceAll(/^\/|\/$/gu, "")
    .toLowerCase();
}

function listTexts(block: Block | null): string[] {
  return (block?.entries ?? []).flatMap((entry) => (entry.kind === "value" && entry.value.kind === "scalar" ? [entry.value.text] : []));
}

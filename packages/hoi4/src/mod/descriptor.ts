import { clipText } from "../clip-text.ts";
import { type Block, blockOf, pairs, parseScript, textOf, valueOf } from "../clausewitz/index.ts";
import { syntaxDiagnostics, type Diagnostic } from "./diagnostic.ts";

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

export const NO_DESCRIPTOR: Descriptor = {
  name: null,
  version: null,
  supportedVersion: null,
  dependencies: [],
  replacedFolders: new Set(),
  diagnostics: [],
};

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
export function othersFiles({ dependencies }: Descriptor): string {
  const names = dependencies.slice(0, NAMES_LISTED).map((name) => `"${clipText(name, NAME_LENGTH)}"`);
  if (dependencies.length > NAMES_LISTED) names.push("another mod it depends on");
  return ["the game itself", ...names].join(" or of ");
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

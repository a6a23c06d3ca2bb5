import { WorkspaceError, type WorkspaceFile, type WorkspaceView } from "@holdfast/core";
import { compareText } from "../compare-text.ts";
import { quantity } from "../quantity.ts";
import { sha256Of } from "../sha256.ts";
import { loadDescriptor, replacesFolder, type Descriptor, type LoadedDescriptor } from "./descriptor.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { listLayers, MOD_LAYER, workspacePath, type Layer, type ListedLayer } from "./layer.ts";
import { readLayout, type LayoutRefusal } from "./layout.ts";
import { missingProposal, staleProposal, type ProposalRefusal, type ProposedFile } from "./proposed-sources.ts";
import { scanRole, type ScanRole } from "./scan-folders.ts";
import { skippedLayer, type SkippedSource } from "./skipped-source.ts";
import { startOf } from "./source-location.ts";

/** One file that a scan reads, with its place in the load order. */
export interface ModFile {
  /** As the workspace knows it. */
  readonly path: string;
  /** The same inside its layer, as the file system spells it: `events/a.txt`. */
  readonly relativePath: string;
  /** `mod:events/a.txt`: what results and graphs call it. */
  readonly displayPath: string;
  /** Label of its layer. */
  readonly layer: string;
  /** The game reads the files of earlier layers first, and those of one layer in this order. */
  readonly order: number;
  /** Bytes, as listed. */
  readonly size: number;
  readonly role: ScanRole;
  /** What stands in for the file on disk. */
  readonly proposed?: Uint8Array;
}

/** A file that the game does not read, because a later layer has one of the same path. */
export interface ShadowedFile {
  /** Its order stands behind that of the files that are read. */
  readonly file: ModFile;
  /** Display path. */
  readonly by: string;
}

export interface LayerSummary extends Layer {
  /** From its descriptor; null for the game and its DLC. */
  readonly name: string | null;
  /** How many files of it the game reads, as far as a scan cares. */
  readonly active: number;
  /** How many are shadowed by files of later layers. */
  readonly shadowed: number;
  /** How many a `replace_path` of a later layer unloads. */
  readonly replaced: number;
}

export interface ModListing {
  /** In load order; the mod is the last one. */
  readonly layers: readonly LayerSummary[];
  /** What the game reads, in load order. */
  readonly files: readonly ModFile[];
  readonly shadowed: readonly ShadowedFile[];
  /** Of the mod. */
  readonly descriptor: Descriptor;
  /** One for each layer. */
  readonly descriptors: readonly LoadedDescriptor[];
  /** Whose files could define what those that were read do not. */
  readonly open: OpenSources;
  /** Layers and descriptors that could not be read. */
  readonly skipped: readonly SkippedSource[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the proposed sources do to files of the mod. */
  readonly proposed: readonly ProposedChange[];
  /** Folders that hold an `events` folder themselves: a hint for a caller who named the folder above the mod. */
  readonly modFoldersBelow: readonly string[];
}

export interface ProposedChange {
  /** Display path. */
  readonly path: string;
  /** Null for a new file. */
  readonly sha256Before: string | null;
  /** Null for a removed file. */
  readonly sha256After: string | null;
}

/** What the workspace does not have of all that the game loads before the mod. */
export interface OpenSources {
  readonly game: boolean;
  /** Names of mods that a descriptor says it depends on. */
  readonly dependencies: readonly string[];
}

/**
 * Which files an event scan reads, with `proposed` files in the place of those of the mod. Throws `WorkspaceError` when the folder of the
 * mod cannot be listed; `descriptorBytes` is an argument for tests.
 */
export async function listModFiles(
  workspace: WorkspaceView,
  { proposed = [], descriptorBytes }: { proposed?: readonly ProposedFile[]; descriptorBytes?: number } = {},
): Promise<ModListing | LayoutRefusal | ProposalRefusal> {
  const layout = await readLayout(workspace);
  if ("code" in layout) return layout;
  const onDisk = await listLayers(workspace, layout);
  const overlay = await applyProposal(workspace, onDisk, proposed);
  if ("code" in overlay) return overlay;
  const { layers, contents, changes } = overlay;
  const descriptors = await Promise.all(
    layers.map((layer) => loadDescriptor({ workspace, layer, contents: layer.kind === "mod" ? contents : new Map(), descriptorBytes })),
  );
  const placed = placeFiles(layers, { descriptors, contents });
  const mod = layers.at(-1);
  const own = descriptors.at(-1);
  if (mod === undefined || own === undefined) throw new Error("a workspace has at least the layer of the mod");
  return {
    ...placed,
    descriptor: own.descriptor,
    descriptors,
    open: openSources(layers, descriptors),
    proposed: changes,
    skipped: [...layers.flatMap(skippedLayer), ...descriptors.flatMap(({ skip }) => skip ?? [])],
    diagnostics: [...placed.diagnostics, ...own.descriptor.diagnostics, ...closedArchives(layers)],
    modFoldersBelow: [...new Set(mod.files.flatMap(({ path }) => /^([^/]+)\/(?:events\/|descriptor\.mod$)/iu.exec(path)?.[1] ?? []))],
  };
}

/** What is open for files of one folder: nothing before a layer that unloads it. */
export function openFor({ layers, descriptors, open }: ModListing, folder: string): OpenSources {
  const unloads = (index: number) => {
    const loaded = descriptors[index];
    return loaded !== undefined && replacesFolder(loaded.descriptor, folder);
  };
  if (unloads(layers.length - 1)) return { game: false, dependencies: [] };
  return layers.some((_, index) => unloads(index)) ? { ...open, game: false } : open;
}

export function isOfMod({ layer }: Pick<ModFile, "layer">): boolean {
  return layer === MOD_LAYER;
}

/** The files that ones of the mod stand for, and that would have defined what others may use. */
export function overriddenByMod({ shadowed }: ModListing): ShadowedFile[] {
  return shadowed.filter(({ file: { role }, by }) => isDisplayedAsMod(by) && (role.kind === "events" || role.kind === "scripted_effects"));
}

/** Whether a display path names a file of the mod. */
export function isDisplayedAsMod(displayPath: string): boolean {
  return displayPath.startsWith(`${MOD_LAYER}:`);
}

type Contents = ReadonlyMap<string, Uint8Array>;

interface Overlay {
  readonly layers: readonly ListedLayer[];
  /** Proposed bytes by path inside the mod. */
  readonly contents: Contents;
  readonly changes: readonly ProposedChange[];
}

/** The mod as if the proposed changes had been made. */
async function applyProposal(
  workspace: WorkspaceView,
  layers: readonly ListedLayer[],
  proposed: readonly ProposedFile[],
): Promise<Overlay | ProposalRefusal> {
  const contents = new Map<string, Uint8Array>();
  const changes: ProposedChange[] = [];
  const mod = layers.at(-1);
  if (proposed.length === 0 || mod === undefined) return { layers, contents, changes };
  // Of two paths that differ in letter case only, the game reads the later one, and so that is the one that is changed.
  const files = new Map(mod.files.map((file) => [file.path, file]));
  const spellings = new Map(mod.files.map(({ path }) => [path.toLowerCase(), path]));
  for (const { path, bytes, expectedSha256 } of proposed) {
    const existing = spellings.get(path.toLowerCase());
    if (existing === undefined && bytes === null) return missingProposal(path);
    const found = existing === undefined ? null : await hashOrNull(workspace, workspacePath(mod, existing));
    if (expectedSha256 !== null && found !== expectedSha256) return staleProposal(path, found);
    const target = existing ?? path;
    changes.push({ path: `${mod.label}:${target}`, sha256Before: found, sha256After: bytes === null ? null : sha256Of(bytes) });
    if (bytes === null) files.delete(target);
    else {
      files.set(target, { path: target, size: bytes.length });
      contents.set(target, bytes);
    }
  }
  return {
    layers: [...layers.slice(0, -1), { ...mod, files: [...files.values()].toSorted((a, b) => compareText(a.path, b.path)) }],
    contents,
    changes,
  };
}

async function hashOrNull(workspace: WorkspaceView, path: string): Promise<string | null> {
  try {
    return sha256Of(await workspace.read(path));
  } catch (error) {
    if (error instanceof WorkspaceError) return null;
    throw error;
  }
}

type Placed = Pick<ModListing, "layers" | "files" | "shadowed" | "diagnostics">;

/** Puts each layer over those before it: a file hides the file of its path, a `replace_path` all files of one folder. */
function placeFiles(
  layers: readonly ListedLayer[],
  { descriptors, contents }: { descriptors: readonly LoadedDescriptor[]; contents: Contents },
): Placed {
  const active = new Map<string, ModFile>();
  const shadowed: ShadowedFile[] = [];
  const diagnostics: Diagnostic[] = [];
  const replaced = new Map<string, number>();
  for (const [index, layer] of layers.entries()) {
    const folders = descriptors[index]?.descriptor.replacedFolders ?? new Set();
    for (const [key, file] of folders.size === 0 ? [] : [...active]) {
      if (!folders.has(key.slice(0, Math.max(0, key.lastIndexOf("/"))))) continue;
      active.delete(key);
      replaced.set(file.layer, (replaced.get(file.layer) ?? 0) + 1);
    }
    for (const { path, size } of layer.files) {
      const role = layerRole(layer, path);
      if (role === null) continue;
      const bytes = layer.kind === "mod" ? contents.get(path) : undefined;
      const file = { ...fileOf(layer, { path, size }, role), ...(bytes === undefined ? {} : { proposed: bytes }) };
      const twin = active.get(path.toLowerCase());
      // Windows, where the game's authors work, knows one file where Linux may hold two that differ in letter case only.
      if (twin?.layer === layer.label) diagnostics.push(caseCollision(twin, file));
      else if (twin !== undefined) shadowed.push({ file: twin, by: file.displayPath });
      active.delete(path.toLowerCase());
      active.set(path.toLowerCase(), file);
    }
  }
  const rank = new Map(layers.map(({ label }, index) => [label, index]));
  const files = [...active.values()]
    .toSorted((a, b) => (rank.get(a.layer) ?? 0) - (rank.get(b.layer) ?? 0) || compareText(a.relativePath, b.relativePath))
    .map((file, order) => ({ ...file, order }));
  const summaries = layers.map(({ label, kind, folder }, index): LayerSummary => {
    const counts = {
      active: files.filter((file) => file.layer === label).length,
      shadowed: shadowed.filter(({ file }) => file.layer === label).length,
      replaced: replaced.get(label) ?? 0,
    };
    return { label, kind, folder, name: descriptors[index]?.descriptor.name ?? null, ...counts };
  });
  const hidden = shadowed.map(({ file, by }, index) => ({ file: { ...file, order: files.length + index }, by }));
  return { layers: summaries, files, shadowed: hidden, diagnostics };
}

/** Of layers before the mod, only texts in the language of results are read: all ten together would be larger than all script. */
function layerRole({ kind }: Layer, path: string): ScanRole | null {
  const role = scanRole(path);
  return role?.kind === "localisation" && kind !== "mod" && !/english/iu.test(path) ? null : role;
}

function fileOf(layer: Layer, { path, size }: WorkspaceFile, role: ScanRole): ModFile {
  const { label } = layer;
  return { path: workspacePath(layer, path), relativePath: path, displayPath: `${label}:${path}`, layer: label, order: 0, size, role };
}

function openSources(layers: readonly ListedLayer[], descriptors: readonly LoadedDescriptor[]): OpenSources {
  const names = new Set(descriptors.map(({ descriptor }) => descriptor.name));
  const wanted = new Set(descriptors.flatMap(({ descriptor }) => descriptor.dependencies));
  return { game: !layers.some(({ kind }) => kind === "game"), dependencies: [...wanted].filter((name) => !names.has(name)) };
}

/** The game's DLC come as archives, which nothing here opens; those that we know hold pictures and sound. */
function closedArchives(layers: readonly ListedLayer[]): Diagnostic[] {
  const archives = layers
    .filter(({ kind }) => kind === "dlc")
    .flatMap(({ label, files }) => files.filter(({ path }) => /\.zip$/iu.test(path)).map(({ path }) => `${label}:${path}`));
  if (archives.length === 0) return [];
  return [
    {
      code: "DLC_ARCHIVE_NOT_READ",
      severity: "info",
      category: "configuration",
      message: `${quantity(archives.length, "archive")} of the game's DLC ${archives.length === 1 ? "is" : "are"} not opened. Unpack what holds script.`,
      classification: "unresolved_analysis",
      confidence: "confirmed",
      details: { archives: archives.slice(0, ARCHIVES_LISTED) },
    },
  ];
}

const ARCHIVES_LISTED = 100;

function caseCollision(shadowed: ModFile, shadowing: ModFile): Diagnostic {
  return {
    code: "SOURCE_PATH_CASE_COLLISION",
    severity: "warning",
    category: "configuration",
    message: `"${shadowed.relativePath}" and "${shadowing.relativePath}" differ in letter case only, so Windows players have one of them. The second one was read, the first one was not.`,
    classification: "probable_defect",
    confidence: "confirmed",
    location: startOf(shadowed.displayPath),
    related: [startOf(shadowing.displayPath)],
  };
}

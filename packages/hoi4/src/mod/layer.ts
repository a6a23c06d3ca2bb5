import { WorkspaceError, type WorkspaceFile, type WorkspaceView } from "@holdfast/core";
import { compareText } from "../compare-text.ts";
import type { Layout } from "./layout.ts";

/** A folder of files that the game puts over those of the folders before it. */
export interface Layer {
  /** What paths of its files begin with: `game`, `dlc001_name`, `dependency-1`, `mod`. */
  readonly label: string;
  readonly kind: LayerKind;
  /** Inside the workspace; "" for its root. */
  readonly folder: string;
}

export type LayerKind = "game" | "dlc" | "dependency" | "mod";

/** The layer that the caller works on, and the last one of the load order. */
export const MOD_LAYER = "mod";

/** A layer with its files, whose paths are those inside the layer. */
export interface ListedLayer extends Layer {
  /** In code-unit order; empty when the folder could not be listed. */
  readonly files: readonly WorkspaceFile[];
  /** Why the folder of a layer other than the mod could not be listed; null when it was. */
  readonly fault: WorkspaceError["code"] | null;
}

/** All layers of a workspace in load order. Throws `WorkspaceError` when the folder of the mod cannot be listed. */
export async function listLayers(workspace: WorkspaceView, layout: Layout): Promise<ListedLayer[]> {
  const game = layout.game === null ? [] : await listGame(workspace, layout.game);
  const dependencies = await Promise.all(
    layout.dependencies.map((folder, index) => listOther(workspace, { label: `dependency-${index + 1}`, kind: "dependency", folder })),
  );
  const mod: ListedLayer = {
    label: MOD_LAYER,
    kind: "mod",
    folder: layout.mod,
    files: await listBelow(workspace, layout.mod),
    fault: null,
  };
  const others = [...game, ...dependencies];
  return [...others, mod].map((layer) => withoutInner(layer, [...others, mod]));
}

/** The path by which the workspace knows a file of a layer. */
export function workspacePath({ folder }: Layer, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

/** A game installation is mostly pictures and sound: only folders that hold script are looked through. */
const GAME_FOLDERS = ["common", "events", "history", "localisation", "tutorial"];

/** Where the game keeps its DLC, one folder `dlcNNN_name` each. */
const DLC_FOLDERS = ["dlc", "integrated_dlc"];

async function listGame(workspace: WorkspaceView, folder: string): Promise<ListedLayer[]> {
  const base: Layer = { label: "game", kind: "game", folder };
  const found: WorkspaceFile[] = [];
  let isThere = false;
  for (const part of [...GAME_FOLDERS, ...DLC_FOLDERS]) {
    const listed = await attempt(() => listBelow(workspace, workspacePath(base, part)));
    if (typeof listed === "string" && listed !== "missing") return [{ ...base, files: [], fault: listed }];
    if (typeof listed === "string") continue;
    isThere = true;
    for (const { path, size } of listed) found.push({ path: `${part}/${path}`, size });
  }
  if (!isThere) return [{ ...base, files: [], fault: "missing" }];
  const dlcs = Map.groupBy(found, ({ path }) => DLC_PATH.exec(path)?.[1] ?? null);
  const layers = [...dlcs].flatMap(([inside, files]): ListedLayer[] => (inside === null ? [] : [dlcLayer(base, inside, files)]));
  return [{ ...base, files: dlcs.get(null) ?? [], fault: null }, ...layers.toSorted((a, b) => compareText(a.label, b.label))];
}

const DLC_PATH = /^((?:integrated_)?dlc\/dlc\d+[^/]*)\//iu;

function dlcLayer(game: Layer, inside: string, files: readonly WorkspaceFile[]): ListedLayer {
  const label = inside.slice(inside.indexOf("/") + 1).toLowerCase();
  const own = files.map(({ path, size }) => ({ path: path.slice(inside.length + 1), size }));
  return { label, kind: "dlc", folder: workspacePath(game, inside), files: own, fault: null };
}

async function listOther(workspace: WorkspaceView, layer: Layer): Promise<ListedLayer> {
  const listed = await attempt(() => listBelow(workspace, layer.folder));
  return typeof listed === "string" ? { ...layer, files: [], fault: listed } : { ...layer, files: listed, fault: null };
}

/** The code of a `WorkspaceError` instead of the error. */
async function attempt(list: () => Promise<readonly WorkspaceFile[]>): Promise<readonly WorkspaceFile[] | WorkspaceError["code"]> {
  try {
    return await list();
  } catch (error) {
    if (error instanceof WorkspaceError) return error.code;
    throw error;
  }
}

async function listBelow(workspace: WorkspaceView, folder: string): Promise<WorkspaceFile[]> {
  const prefix = folder === "" ? 0 : folder.length + 1;
  const listed = await workspace.list(folder);
  return listed.map(({ path, size }) => ({ path: path.slice(prefix), size })).toSorted((a, b) => compareText(a.path, b.path));
}

/** A layer's folder may hold those of others, such as a mod that keeps the game's files at its side: they are no part of it. */
function withoutInner(layer: ListedLayer, all: readonly ListedLayer[]): ListedLayer {
  const prefix = layer.folder === "" ? "" : `${layer.folder}/`;
  const inner = all
    .filter((other) => other !== layer && other.kind !== "dlc" && other.folder.startsWith(prefix))
    .map(({ folder }) => `${folder.slice(prefix.length)}/`);
  return inner.length === 0 ? layer : { ...layer, files: layer.files.filter(({ path }) => !inner.some((start) => path.startsWith(start))) };
}

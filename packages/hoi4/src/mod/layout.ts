import { WorkspaceError, type WorkspaceView } from "@holdfast/core";
import { z } from "zod";

/** Which folders of a workspace are what. All of them lie in the workspace's folder, because nothing else can be read. */
export interface Layout {
  /** "" when the workspace's folder is the mod. */
  readonly mod: string;
  /** The game's own files; null when the workspace has none. */
  readonly game: string | null;
  /** Mods that load before this one, the first one first. */
  readonly dependencies: readonly string[];
}

/** The layout file cannot be followed, and guessing would answer for other files than the caller means. */
export interface LayoutRefusal {
  readonly code: "LAYOUT_INVALID";
  readonly message: string;
}

export const LAYOUT_FILE = "holdfast.json";

const PLAIN: Layout = { mod: "", game: null, dependencies: [] };

/** Reads `holdfast.json` of a workspace; without one, its folder is the mod and nothing else is there. Throws `WorkspaceError`. */
export async function readLayout(workspace: WorkspaceView): Promise<Layout | LayoutRefusal> {
  const bytes = await readOrNull(workspace);
  if (bytes === null) return PLAIN;
  if (bytes.length > MAX_BYTES) return refuse(`is larger than ${MAX_BYTES / 1024} KiB`);
  const document = parseJson(bytes);
  if (document === undefined) return refuse("is not JSON");
  const parsed = layoutFileSchema.safeParse(document);
  if (!parsed.success) return refuse(explain(parsed.error));
  const { mod, game, dependencies } = parsed.data.hoi4;
  const folders = [mod, ...(game === null ? [] : [game]), ...dependencies].map((folder) => folder.toLowerCase());
  const repeated = folders.find((folder, index) => folders.indexOf(folder) < index);
  return repeated === undefined ? { mod, game, dependencies } : refuse(`gives the folder "${repeated}" two meanings`);
}

const MAX_BYTES = 64 * 1024;

const folderSchema = z
  .string()
  .max(1_000)
  .transform((folder) => folder.replaceAll("\\", "/").replaceAll(/\/+/gu, "/").replace(/\/$/u, ""))
  .refine((folder) => !/^\/|^[a-z]:|\0/iu.test(folder) && !folder.split("/").includes(".."), {
    error: "is not a folder inside the workspace",
  })
  .transform((folder) =>
    folder
      .split("/")
      .filter((segment) => segment !== ".")
      .join("/"),
  );

/** Other packs may have members of their own; a slip in ours must not pass for a wish. */
const layoutFileSchema = z.looseObject({
  hoi4: z
    .strictObject({
      mod: folderSchema.default(""),
      game: folderSchema.nullable().default(null),
      dependencies: z.array(folderSchema).max(64).default([]),
    })
    .prefault({}),
});

async function readOrNull(workspace: WorkspaceView): Promise<Uint8Array | null> {
  try {
    return await workspace.read(LAYOUT_FILE);
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === "missing") return null;
    throw error;
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(
      Buffer.from(bytes)
        .toString()
        .replace(/^\uFEFF/u, ""),
    ) as unknown;
  } catch {
    return undefined;
  }
}

function explain({ issues: [issue] }: z.ZodError): string {
  const place = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
  return `cannot be followed${place}: ${issue?.message ?? "it has another shape"}`;
}

function refuse(reason: string): LayoutRefusal {
  return { code: "LAYOUT_INVALID", message: `${LAYOUT_FILE} in the workspace's folder ${reason}.` };
}

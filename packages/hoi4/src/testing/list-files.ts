import type { WorkspaceView } from "@holdfast/core";
import { listModFiles, type ModListing } from "../mod/list-mod-files.ts";

/** The files of a workspace whose layout is in order. */
export async function listFiles(workspace: WorkspaceView, options?: Parameters<typeof listModFiles>[1]): Promise<ModListing> {
  const listing = await listModFiles(workspace, options);
  if ("code" in listing) throw new Error(`the listing was refused: ${listing.message}`);
  return listing;
}

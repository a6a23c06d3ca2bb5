import { z } from "zod";
import type { WorkspaceId } from "../access/workspace.ts";
import { parseWorkspaceId } from "../access/workspace.ts";

/** An artifact's name is the last part of its address: a plain file name, so that no client has to decode it. */
export const artifactNameSchema = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/iu);
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/u);

/** What a result says of an artifact: enough to show it and to fetch it. `size` is in bytes. */
export const artifactLinkSchema = z.object({
  uri: z.string(),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string(),
  size: z.number().int().nonnegative().optional(),
});
export type ArtifactLink = z.infer<typeof artifactLinkSchema>;

export interface ArtifactAddress {
  readonly workspaceId: WorkspaceId;
  /** Lower-case hexadecimal digest of the bytes. */
  readonly sha256: string;
  readonly name: string;
}

/** `holdfast://workspace/{workspace}/artifact/{sha256}/{name}`, with `{?offset,length}` in the template clients see. */
export const ARTIFACT_URI_TEMPLATE = "holdfast://workspace/{workspace}/artifact/{sha256}/{name}{?offset,length}";

export function formatArtifactUri(address: ArtifactAddress, range?: { offset: number; length: number }): string {
  const query = range === undefined ? "" : `?offset=${range.offset}&length=${range.length}`;
  return `holdfast://workspace/${address.workspaceId}/artifact/${address.sha256}/${address.name}${query}`;
}

const URI_PATTERN = /^holdfast:\/\/workspace\/([^/?#]+)\/artifact\/([^/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/u;

/** Null for anything that is not exactly an artifact address; `offset` and `length` in bytes, absent when not given. */
export function parseArtifactUri(uri: string): { address: ArtifactAddress; offset?: number; length?: number } | null {
  const match = URI_PATTERN.exec(uri);
  if (match === null) return null;
  const [, workspace = "", sha256 = "", name = "", query = ""] = match;
  const workspaceId = parseWorkspaceId(workspace);
  if (workspaceId === null || !sha256Schema.safeParse(sha256).success || !artifactNameSchema.safeParse(name).success) return null;
  const parsed: { address: ArtifactAddress; offset?: number; length?: number } = { address: { workspaceId, sha256, name } };
  for (const pair of query === "" ? [] : query.split("&")) {
    const field = /^(?:offset|length)=(\d{1,15})$/u.exec(pair);
    if (field === null) return null;
    const key = pair.startsWith("offset") ? "offset" : "length";
    if (parsed[key] !== undefined) return null;
    parsed[key] = Number(field[1]);
  }
  return parsed;
}

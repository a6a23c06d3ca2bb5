import type { ArtifactAddress, Principal } from "@holdfast/core";
import { z } from "zod";
import { grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { countSchema, runStatement, type Statement } from "../statement.ts";

export interface ArtifactRequest {
  readonly principal: Principal;
  readonly address: ArtifactAddress;
  /** First byte, and how many at most. */
  readonly offset: number;
  readonly length: number;
}

export interface ArtifactBytes {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly totalBytes: number;
  readonly mediaType: string;
  readonly name: string;
}

const rowSchema = z.object({
  bytes: z.instanceof(Uint8Array),
  total_bytes: countSchema,
  media_type: z.string(),
  name: z.string(),
});

/** The bytes are stored uncompressed, so the server reads no more of them than the range. */
const READ: Statement<z.infer<typeof rowSchema>> = {
  purpose: "read an artifact",
  prepared: true,
  text: `
select substring(b.bytes from $7::int for $8::int) as bytes, a.size_bytes as total_bytes, a.media_type, a.name
from holdfast.artifact as a
inner join holdfast.artifact_blob as b on b.workspace_id = a.workspace_id and b.sha256 = a.sha256
where a.workspace_id = $4::text
  and a.sha256 = decode($5::text, 'hex')
  and a.name = $6::text
  and ${grantPredicate({ workspaceId: "a.workspace_id", issuer: "$1::text", subject: "$2::text", groups: "$3::jsonb", action: "'read'" })}`,
  row: rowSchema,
};

/** Positions of `substring` are 32-bit; no artifact is longer, and its position is counted from one. */
const MAX_POSITION = 2 ** 31 - 1;

/** Null when there is no such artifact or no grant to read it. Past the end there are no bytes, and the total says why. */
export async function readArtifact(database: Database, request: ArtifactRequest): Promise<ArtifactBytes | null> {
  const principal = principalParameters(request.principal);
  if (principal === null) return null;
  const { address, offset } = request;
  const position = Math.min(offset + 1, MAX_POSITION);
  const length = Math.min(request.length, MAX_POSITION - position);
  const [row] = await runStatement(database.pool, READ, [
    ...principal,
    address.workspaceId,
    address.sha256,
    address.name,
    position,
    length,
  ]);
  if (row === undefined) return null;
  return { bytes: row.bytes, offset, totalBytes: row.total_bytes, mediaType: row.media_type, name: row.name };
}

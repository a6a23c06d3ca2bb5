import { createHash } from "node:crypto";
import { AppError, artifactNameSchema, parseWorkspaceId, type ArtifactAddress, type AttemptRef } from "@holdfast/core";
import type { PoolClient } from "pg";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { quoteText } from "../statement.ts";
import { sqlStateOf, storageError } from "../storage-error.ts";

export interface ArtifactUpload {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly mimeType: string;
  readonly title?: string;
}

export type StoreArtifactAnswer =
  | { readonly kind: "stored"; readonly address: ArtifactAddress; readonly size: number }
  /** A newer attempt or a terminal state stands; nothing was stored. */
  | { readonly kind: "refused" };

/**
 * Stores bytes under their digest, in the workspace of the attempt's task, and links them to the task: what no task links is garbage at
 * any moment, and nothing that is in use ever is.
 *
 * - Only the holder of the newest token stores. The row is read, not locked: heartbeats must go on during a long upload, and an
 *   artifact stored in the very moment of a take-over is bytes under their own digest, which no result names and the task takes along.
 * - The same bytes by two attempts at once: the second waits for the first one's key and then does nothing but link.
 * - Against the sweep, which takes bytes that this statement has found in place: the link has nothing to refer to, and the next try
 *   stores them anew. In the other order, the sweep meets the link.
 */
const STORE = `
with holder as (
  select t.id, t.workspace_id
  from holdfast.live_task as l
  inner join holdfast.task as t on t.id = l.task_id
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
),
blob as (
  insert into holdfast.artifact_blob (workspace_id, sha256, bytes)
  select workspace_id, $4::bytea, $5::bytea from holder
  on conflict do nothing
),
named as (
  insert into holdfast.artifact (workspace_id, sha256, name, media_type, title, size_bytes)
  select workspace_id, $4::bytea, $6::text, $7::text, $8::json, $9::bigint from holder
  on conflict do nothing
),
linked as (
  insert into holdfast.task_artifact (task_id, workspace_id, sha256, name)
  select id, workspace_id, $4::bytea, $6::text from holder
  on conflict do nothing
)
select workspace_id from holder`;

const rowsSchema = z.array(z.object({ workspace_id: z.string().transform(parseWorkspaceId) })).max(1);
/** RFC 6838 names with parameters; nothing that needs decoding. */
const mimeTypeSchema = z.string().regex(/^[\x21-\x7e]{1,127}\/[\x21-\x7e]{1,127}(?:; ?[\x20-\x7e]{1,127})?$/u);

/** Hundreds of megabytes may go to a slow disk; the lease is kept by heartbeats over other connections meanwhile. */
const UPLOAD_TIMEOUT_MS = 120_000;

/** Rejects with "operation_output_invalid" for a name or type that no address or header can carry. */
export async function storeArtifact(database: Database, attempt: AttemptRef, file: ArtifactUpload): Promise<StoreArtifactAnswer> {
  if (!artifactNameSchema.safeParse(file.name).success || !mimeTypeSchema.safeParse(file.mimeType).success)
    throw new AppError("operation_output_invalid", `task ${attempt.taskId} offered an artifact with an unusable name or media type`);
  const sha256 = createHash("sha256").update(file.bytes).digest();
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  const title = quoteText(file.title ?? null);
  const { taskId, token, workerId } = attempt;
  const values = [taskId, token, workerId, sha256, bytes, file.name, file.mimeType, title, bytes.byteLength];
  const [row] = await uploadAgainstSweeps(database, values);
  if (row === undefined || row.workspace_id === null) return { kind: "refused" };
  return {
    kind: "stored",
    address: { workspaceId: row.workspace_id, sha256: sha256.toString("hex"), name: file.name },
    size: bytes.byteLength,
  };
}

/** A sweep takes the same bytes once: twice in a row they must have been stored, and linked by nobody, in between. */
const MAX_TRIES = 3;

async function uploadAgainstSweeps(database: Database, values: readonly unknown[]): Promise<z.infer<typeof rowsSchema>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await upload(database, values);
    } catch (error) {
      if (tries === MAX_TRIES || sqlStateOf(error) !== FOREIGN_KEY_VIOLATION) throw error;
    }
  }
}

const FOREIGN_KEY_VIOLATION = "23503";

/** The statement in a transaction of its own, because only there a longer limit can be set without leaving it to the next user. */
async function upload(database: Database, values: readonly unknown[]): Promise<z.infer<typeof rowsSchema>> {
  let client: PoolClient | null = null;
  try {
    client = await database.pool.connect();
    await client.query(`begin; set local statement_timeout = ${UPLOAD_TIMEOUT_MS}`);
    // The driver's limit per query is missing from its type, hence the variable.
    const query = { text: STORE, values: [...values], query_timeout: UPLOAD_TIMEOUT_MS + 2_000 };
    const { rows } = await client.query<Record<string, unknown>>(query);
    await client.query("commit");
    client.release();
    return rowsSchema.parse(rows);
  } catch (error) {
    client?.release(true);
    throw storageError(error, "could not store an artifact");
  }
}

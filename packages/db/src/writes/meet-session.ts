import { taskIdSchema, type JsonObject, type Principal, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { jsonTextSchema, runStatement, type Statement } from "../statement.ts";

/** What a client presents: the name of its session, as a digest, and itself. */
export interface SessionRef {
  readonly tokenSha256: Uint8Array;
  readonly principal: Principal;
}

export interface StoredSession {
  /** Its name among nodes, in the form of a task id, so that it can be hinted at like one. */
  readonly id: TaskId;
  readonly revision: string;
  readonly capabilities: JsonObject;
  /** From which level on its client wants log messages; null until it says so. */
  readonly logLevel: string | null;
  /** The database's time. */
  readonly now: Date;
}

/** A session that nobody has used for so long is over, in SQL. */
export const SESSION_IDLE = "interval '24 hours'";

const rowSchema = z.object({
  id: taskIdSchema,
  revision: z.string(),
  capabilities: jsonTextSchema.pipe(z.record(z.string(), z.json())),
  log_level: z.string().nullable(),
  now: z.date(),
});

/**
 * The owner is a condition of the look-up, so that unknown, foreign and expired sessions are the same empty answer. That it was seen is
 * written once a minute: a row for each request would cost more than the request.
 */
const MEET: Statement<z.infer<typeof rowSchema>> = {
  purpose: "meet a session",
  prepared: true,
  text: `
with found as (
  select s.id, s.revision, s.capabilities, s.log_level, s.seen_at
  from holdfast.session as s
  where s.token_sha256 = $1::bytea
    and s.issuer = $2::text
    and s.subject = $3::text
    and s.seen_at > now() - ${SESSION_IDLE}
),
touched as (
  update holdfast.session as s
  set seen_at = now()
  from found as f
  where s.id = f.id and f.seen_at < now() - interval '1 minute'
)
select id, revision, capabilities::text as capabilities, log_level, now() as now from found`,
  row: rowSchema,
};

export async function meetSession(database: Database, ref: SessionRef): Promise<StoredSession | null> {
  const principal = principalParameters(ref.principal);
  if (principal === null) return null;
  const [issuer, subject] = principal;
  const [row] = await runStatement(database.pool, MEET, [Buffer.from(ref.tokenSha256), issuer, subject]);
  if (row === undefined) return null;
  const { log_level: logLevel, ...session } = row;
  return { ...session, logLevel };
}

const epochSchema = z.object({ stream_epoch: z.number() });

const TAKE_STREAM: Statement<z.infer<typeof epochSchema>> = {
  purpose: "take the stream of a session",
  prepared: true,
  text: "update holdfast.session set stream_epoch = stream_epoch + 1 where id = $1::uuid returning stream_epoch",
  row: epochSchema,
};

/** From here on the session's stream is the caller's; null when the session has ended. */
export async function takeSessionStream(database: Database, sessionId: TaskId): Promise<number | null> {
  const [row] = await runStatement(database.pool, TAKE_STREAM, [sessionId]);
  return row?.stream_epoch ?? null;
}

const idSchema = z.object({ id: taskIdSchema });

const SET_LOG_LEVEL: Statement<z.infer<typeof idSchema>> = {
  purpose: "set the log level of a session",
  prepared: true,
  text: "update holdfast.session set log_level = $2::text where id = $1::uuid returning id",
  row: idSchema,
};

/** `level` is one of MCP's names. */
export async function setLogLevel(database: Database, sessionId: TaskId, level: string): Promise<void> {
  await runStatement(database.pool, SET_LOG_LEVEL, [sessionId, level]);
}

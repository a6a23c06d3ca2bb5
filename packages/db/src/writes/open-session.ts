import { AppError, type JsonValue, type Principal } from "@holdfast/core";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

/** A session as a client opens it; `tokenSha256` is of the name that it will use. */
export interface NewSession {
  readonly tokenSha256: Uint8Array;
  readonly principal: Principal;
  readonly revision: string;
  readonly capabilities: JsonValue;
  readonly clientName: JsonValue;
}

/** How many sessions a principal has at most. */
export const MAX_SESSIONS = 64;

/**
 * Adds the session and removes those of its owner that have been unseen for the longest, beyond what one may have.
 *
 * - Many at once do not see each other's: as many as there are connections may be too many for a moment, and the next one removes them.
 * - Two that would remove the same ones: what one has locked, the other leaves to it.
 */
const OPEN: Statement<{ id: string }> = {
  purpose: "open a session",
  prepared: true,
  text: `
with surplus as (
  select s.id
  from holdfast.session as s
  where s.issuer = $3::text and s.subject = $4::text
  order by s.seen_at desc, s.id
  offset ${MAX_SESSIONS - 1}
  for update skip locked
),
removed as (
  delete from holdfast.session as s
  using surplus as u
  where s.id = u.id
)
insert into holdfast.session (id, token_sha256, issuer, subject, revision, capabilities, client_name)
values ($1::uuid, $2::bytea, $3::text, $4::text, $5::text, $6::json, $7::json)
returning id`,
  row: z.object({ id: z.string() }),
};

/** Rejects with `AppError` "internal" for a principal that cannot own anything. */
export async function openSession(database: Database, session: NewSession): Promise<void> {
  const principal = principalParameters(session.principal);
  if (principal === null) throw new AppError("internal", "a principal whose name cannot be kept opens a session");
  const [issuer, subject] = principal;
  await runStatement(database.pool, OPEN, [
    randomUUID(),
    Buffer.from(session.tokenSha256),
    issuer,
    subject,
    session.revision,
    JSON.stringify(session.capabilities),
    JSON.stringify(session.clientName),
  ]);
}

import { AppError, type AttemptRef, type BindAnswer, type FileVersion, type JournalPlan } from "@holdfast/core";
import { z } from "zod";
import { artifactParameters, artifactsText, linkQuery, missingArtifact } from "../artifact-links.ts";
import { grantPredicate } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { quoteText, runStatement, type Statement } from "../statement.ts";

/**
 * Binds a plan to the attempt's task, with all of its bytes, before the first file changes (contract 7.1).
 *
 * - The guard is the lock on `live_task` with token and worker, held until the plan is durable: nobody claims, reaps or settles the task
 *   in between. The version grows for those who wait for the lock with an older snapshot, in which there is no plan.
 * - Two plans below one root: the second waits at the unique index until the first one's fate is known, and binds nothing if it stands.
 *   Nothing is written then, the version included.
 * - The answer to a bind may be lost and the bind repeated: the entry is found with this attempt's token and the plan's own seal. While the
 *   first one is still under way the second waits for it with a snapshot that has no entry: it is `stale`, and tried again.
 * - The owner's grant to write is asked for again, in the statement that binds (contract 2.6): one that was withdrawn while the task waited
 *   or ran changes no file. Groups are those that the owner's token named when the task was created.
 * - The artifacts of the result are linked with the plan, so that a committed write can always be completed.
 */
const BIND: Statement<{ answer: BindAnswer | "stale" }> = {
  purpose: "bind a plan",
  prepared: true,
  text: `
with held as (
  select l.task_id, l.checkpoint_version
  from holdfast.live_task as l
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  for update
),
allowed as (
  select t.id, t.workspace_id, t.root
  from held as h
  inner join holdfast.task as t on t.id = h.task_id
  where ${grantPredicate({
    workspaceId: "t.workspace_id",
    issuer: "t.issuer",
    subject: "t.subject",
    groups: "t.groups",
    action: "'write'",
  })}
),
bound as (
  insert into holdfast.journal_entry (task_id, workspace_id, root, fencing_token, result, artifacts, seal)
  select id, workspace_id, root, $2::int, $4::text::json, $5::json, $6::text
  from allowed
  on conflict do nothing
  returning task_id as id, workspace_id
),
grown as (
  update holdfast.live_task as l
  set checkpoint_version = l.checkpoint_version + 1
  from bound as b
  where l.task_id = b.id
),
planned as (
  insert into holdfast.journal_file (task_id, position, path, before_sha256, before_bytes, after_sha256, after_bytes)
  select
    b.id, f.position::int - 1, f.path::json, decode(f.before_sha256, 'hex'), f.before_bytes, decode(f.after_sha256, 'hex'), f.after_bytes
  from bound as b
  cross join unnest($7::text[], $8::text[], $9::bytea[], $10::text[], $11::bytea[])
    with ordinality as f (path, before_sha256, before_bytes, after_sha256, after_bytes, position)
),
linked as (${linkQuery("bound", "$12", "$13")}),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select id, 'journal.planned', $2::int, jsonb_build_object('files', cardinality($7::text[])) from bound
)
select
  case
    when b.id is not null then 'bound'
    when j.task_id is null and a.id is null then 'denied'
    when h.checkpoint_version <> s.checkpoint_version then 'stale'
    when j.task_id is null then 'busy'
    when j.state = 'planned' and j.fencing_token = $2::int and j.seal = $6::text then 'bound'
    else 'refused'
  end as answer
from held as h
-- Not locked here, hence as the snapshot has it.
inner join holdfast.live_task as s on s.task_id = h.task_id
left join allowed as a on a.id = h.task_id
left join bound as b on b.id = h.task_id
left join holdfast.journal_entry as j on j.task_id = h.task_id`,
  row: z.object({ answer: z.enum(["bound", "busy", "denied", "refused", "stale"]) }),
};

/** How often it is tried again because the attempt itself was still writing: each time, one of a few writes has come to its end. */
const MAX_STALE = 5;

export async function bindJournal(database: Database, attempt: AttemptRef, plan: JournalPlan): Promise<BindAnswer> {
  const { taskId, token, workerId } = attempt;
  const { files, resultText, artifacts, seal } = plan;
  const values = [
    taskId,
    token,
    workerId,
    resultText,
    artifactsText(artifacts),
    seal,
    files.map(({ path }) => quoteText(path)),
    files.map(({ before }) => before?.sha256 ?? null),
    files.map(({ before }) => bytesOf(before)),
    files.map(({ after }) => after?.sha256 ?? null),
    files.map(({ after }) => bytesOf(after)),
    ...artifactParameters(artifacts),
  ];
  try {
    for (let tries = 0; tries < MAX_STALE; tries += 1) {
      const [row] = await runStatement(database.pool, BIND, values);
      if (row?.answer !== "stale") return row?.answer ?? "refused";
    }
  } catch (error) {
    throw missingArtifact(error, taskId);
  }
  throw new AppError("storage_unavailable", `task ${taskId} was written to by its own attempt whenever a plan was to be bound`);
}

/** A view, not a copy; the driver writes elements of lists in hexadecimal. */
function bytesOf(version: FileVersion | null): Buffer | null {
  return version === null ? null : Buffer.from(version.bytes.buffer, version.bytes.byteOffset, version.bytes.byteLength);
}

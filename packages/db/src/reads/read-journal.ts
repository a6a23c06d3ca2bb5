import { JOURNAL_STATES, type AttemptRef, type FileVersion, type JournalEntry } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { jsonTextSchema, quotedTextSchema, runStatement, type Statement } from "../statement.ts";

const bytesSchema = z.instanceof(Uint8Array).nullable();
const rowSchema = z.object({
  state: z.enum(JOURNAL_STATES),
  recoveries: z.number(),
  result: z.string().nullable(),
  artifacts: jsonTextSchema.pipe(z.array(z.object({ sha256: z.string(), name: z.string() }))),
  seal: z.string(),
  path: quotedTextSchema.nullable(),
  before_sha256: z.string().nullable(),
  before_bytes: bytesSchema,
  after_sha256: z.string().nullable(),
  after_bytes: bytesSchema,
});

/**
 * One row for each file, in one snapshot; the result, which may be large, comes with the first. Only for the newest attempt: others have
 * nothing to do with it, and the bytes are there as long as it is.
 */
const READ: Statement<z.infer<typeof rowSchema>> = {
  purpose: "read a journal",
  prepared: true,
  text: `
select
  j.state, j.recoveries, case when coalesce(f.position, 0) = 0 then j.result::text end as result, j.artifacts::text as artifacts, j.seal,
  f.path::text as path, encode(f.before_sha256, 'hex') as before_sha256, f.before_bytes,
  encode(f.after_sha256, 'hex') as after_sha256, f.after_bytes
from holdfast.live_task as l
inner join holdfast.journal_entry as j on j.task_id = l.task_id
left join holdfast.journal_file as f on f.task_id = j.task_id
where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
order by f.position`,
  row: rowSchema,
};

export async function readJournal(database: Database, { taskId, token, workerId }: AttemptRef): Promise<JournalEntry | null> {
  const rows = await runStatement(database.pool, READ, [taskId, token, workerId]);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    state: first.state,
    recoveries: first.recoveries,
    resultText: z.string().parse(first.result),
    artifacts: first.artifacts,
    seal: first.seal,
    files: rows.flatMap((row) =>
      row.path === null
        ? []
        : [
            {
              path: row.path,
              before: versionOf(row.before_sha256, row.before_bytes),
              after: versionOf(row.after_sha256, row.after_bytes),
            },
          ],
    ),
  };
}

function versionOf(sha256: string | null, bytes: Uint8Array | null): FileVersion | null {
  return sha256 === null || bytes === null ? null : { sha256, bytes };
}

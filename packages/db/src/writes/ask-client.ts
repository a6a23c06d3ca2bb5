import { inputMethodSchema, taskIdSchema, type InputRequests, type JsonValue, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { jsonTextSchema, runStatement, type Statement } from "../statement.ts";
import type { StoredQuestion } from "./take-over-call.ts";

export interface NewRound {
  readonly id: TaskId;
  readonly epoch: number;
  readonly requests: InputRequests;
  /** Goes with the answers. */
  readonly requestState: string;
}

const rowSchema = z.object({
  position: z.number(),
  key: z.string(),
  method: inputMethodSchema,
  params: jsonTextSchema.pipe(z.record(z.string(), z.json())),
});

/** Only whoever holds the call asks: an older holder would ask the client twice. */
const ASK: Statement<z.infer<typeof rowSchema>> = {
  purpose: "ask the client of a call",
  prepared: true,
  text: `
with last as (
  select coalesce(max(q.position), 0) as position from holdfast.session_question as q where q.call_id = $1::uuid
),
held as (
  update holdfast.session_call as c
  set request_state = $3::text, round_after = l.position
  from last as l
  where c.id = $1::uuid and c.epoch = $2::integer and c.cancelled_at is null
  returning c.id, l.position
)
insert into holdfast.session_question (call_id, position, key, method, params)
select h.id, h.position + g.number, g.key, g.method, g.params
from held as h
cross join rows from (unnest($4::text[], $5::text[]), json_array_elements($6::json))
  with ordinality as g (key, method, params, number)
returning position, key, method, params::text as params`,
  row: rowSchema,
};

/** The questions as they are sent; null when the call is no longer the caller's. */
export async function askClient(database: Database, round: NewRound): Promise<readonly StoredQuestion[] | null> {
  const asked = Object.entries(round.requests);
  const rows = await runStatement(database.pool, ASK, [
    round.id,
    round.epoch,
    round.requestState,
    asked.map(([key]) => key),
    asked.map(([, { method }]) => method),
    JSON.stringify(asked.map(([, { params }]) => params)),
  ]);
  if (rows.length === 0) return null;
  return rows.toSorted((left, right) => left.position - right.position).map((row) => ({ ...row, answer: null }));
}

const idSchema = z.object({ id: taskIdSchema });

/** The first answer to a question counts. */
const ANSWER: Statement<z.infer<typeof idSchema>> = {
  purpose: "answer a question of a call",
  prepared: true,
  text: `
update holdfast.session_question as q
set answer = $4::json
from holdfast.session_call as c
where q.call_id = $1::uuid
  and q.position = $2::integer
  and q.answer is null
  and c.id = q.call_id
  and c.session_id = $3::uuid
  and c.cancelled_at is null
returning c.id`,
  row: idSchema,
};

export interface QuestionAnswer {
  readonly sessionId: TaskId;
  readonly callId: TaskId;
  readonly position: number;
  /** The JSON-RPC answer without its frame. */
  readonly answer: JsonValue;
}

/** False when the session has no such open question. */
export async function answerQuestion(database: Database, { sessionId, callId, position, answer }: QuestionAnswer): Promise<boolean> {
  const rows = await runStatement(database.pool, ANSWER, [callId, position, sessionId, JSON.stringify(answer)]);
  return rows.length > 0;
}

/** Ends the round. Of two that would go on with the answers, one does. */
const TAKE_ANSWERS: Statement<z.infer<typeof idSchema>> = {
  purpose: "take the answers of a call",
  prepared: true,
  text: `
update holdfast.session_call as c
set request_state = null, round_after = (select coalesce(max(q.position), 0) from holdfast.session_question as q where q.call_id = c.id)
where c.id = $1::uuid and c.epoch = $2::integer and c.cancelled_at is null
returning c.id`,
  row: idSchema,
};

/** False when the call is no longer the caller's. */
export async function takeAnswers(database: Database, call: { readonly id: TaskId; readonly epoch: number }): Promise<boolean> {
  return (await runStatement(database.pool, TAKE_ANSWERS, [call.id, call.epoch])).length > 0;
}

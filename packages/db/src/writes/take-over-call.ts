import { inputMethodSchema, taskIdSchema, type InputMethod, type JsonObject, type JsonValue, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { jsonTextSchema, runStatement, type Statement } from "../statement.ts";

/** A call as whoever goes on with it finds it. */
export interface StoredCall {
  readonly id: TaskId;
  readonly epoch: number;
  readonly requestId: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly taskId: TaskId | null;
  readonly asTask: boolean;
  readonly isAnswered: boolean;
  readonly isCancelled: boolean;
  /** Null before anything was asked. */
  readonly requestState: string | null;
  /** The newest round, in order. */
  readonly questions: readonly StoredQuestion[];
}

export interface StoredQuestion {
  readonly position: number;
  readonly key: string;
  readonly method: InputMethod;
  readonly params: JsonObject;
  /** The JSON-RPC answer without its frame; null while there is none. */
  readonly answer: JsonValue | null;
}

const objectSchema = z.record(z.string(), z.json());
const questionSchema = z.object({
  position: z.number(),
  key: z.string(),
  method: inputMethodSchema,
  params: objectSchema,
  answer: z.json().nullable(),
});
const rowSchema = z.object({
  id: taskIdSchema,
  epoch: z.number(),
  request_id: z.string(),
  method: z.string(),
  params: jsonTextSchema.pipe(objectSchema),
  task_id: taskIdSchema.nullable(),
  as_task: z.boolean(),
  is_answered: z.boolean(),
  is_cancelled: z.boolean(),
  request_state: z.string().nullable(),
  questions: jsonTextSchema.pipe(z.array(questionSchema)),
});

/** Of `holdfast.session_call as c`. */
const COLUMNS = `
  c.id, c.epoch, c.request_id, c.method, c.params::text as params, c.task_id, c.as_task, c.request_state,
  c.answered_at is not null as is_answered,
  c.cancelled_at is not null as is_cancelled,
  coalesce((
    select json_agg(
      json_build_object('position', q.position, 'key', q.key, 'method', q.method, 'params', q.params, 'answer', q.answer)
      order by q.position
    )
    from holdfast.session_question as q
    where q.call_id = c.id and q.position > c.round_after
  ), '[]')::text as questions`;

/** The session is a condition, so that an id of another session is an id of nothing. */
const TAKE_OVER: Statement<z.infer<typeof rowSchema>> = {
  purpose: "take over a call",
  prepared: true,
  text: `
update holdfast.session_call as c
set epoch = c.epoch + 1
where c.id = $1::uuid and c.session_id = $2::uuid and c.cancelled_at is null
returning ${COLUMNS}`,
  row: rowSchema,
};

const LOOK: Statement<z.infer<typeof rowSchema>> = {
  purpose: "look at a call",
  prepared: true,
  text: `select ${COLUMNS} from holdfast.session_call as c where c.id = $1::uuid`,
  row: rowSchema,
};

/** From here on the call is the caller's to answer; null when the session has no such call. */
export async function takeOverCall(database: Database, sessionId: TaskId, id: TaskId): Promise<StoredCall | null> {
  const [row] = await runStatement(database.pool, TAKE_OVER, [id, sessionId]);
  return row === undefined ? null : callOf(row);
}

export async function lookAtCall(database: Database, id: TaskId): Promise<StoredCall | null> {
  const [row] = await runStatement(database.pool, LOOK, [id]);
  return row === undefined ? null : callOf(row);
}

function callOf(row: z.infer<typeof rowSchema>): StoredCall {
  const { id, epoch, method, params, questions } = row;
  return {
    id,
    epoch,
    requestId: row.request_id,
    method,
    params,
    taskId: row.task_id,
    asTask: row.as_task,
    isAnswered: row.is_answered,
    isCancelled: row.is_cancelled,
    requestState: row.request_state,
    questions,
  };
}

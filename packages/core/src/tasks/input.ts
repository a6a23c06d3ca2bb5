import { z } from "zod";
import type { JsonObject } from "../json.ts";

/** What an operation may ask of its client (contract 9.1): the requests that MCP lets a server send. */
export const INPUT_METHODS = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;
export const inputMethodSchema = z.enum(INPUT_METHODS);
export type InputMethod = z.infer<typeof inputMethodSchema>;

/**
 * The key of a question: unique over the life of a task, chosen by the operation. Not `__proto__`, which an object read from JSON has as
 * a member, and which every copy of it loses.
 */
export const inputKeySchema = z.string().regex(/^(?!__proto__$)[\x21-\x7e]{1,128}$/u);

/** One question, as MCP spells its method and parameters. */
export interface InputRequest {
  readonly method: InputMethod;
  readonly params: JsonObject;
}

/** Questions by key. */
export type InputRequests = Readonly<Record<string, InputRequest>>;

/** An answer of the kind that its method asks for; one of another kind is ignored (contract 9.2). */
export interface InputAnswer {
  readonly key: string;
  readonly method: InputMethod;
  readonly answer: JsonObject;
}

/** A question of a task, with its answer once there is one. */
export interface TaskInput extends InputRequest {
  readonly key: string;
  readonly answer: JsonObject | null;
}

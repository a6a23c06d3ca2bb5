import type { Result } from "@modelcontextprotocol/server";
import type { JsonObject, JsonValue } from "@holdfast/core";
import { z } from "zod";
import type { ClientError } from "../client-error.ts";

/** Told apart by its JSON type too: `0` and `""` are ids. */
export type RequestId = string | number;

/** One JSON-RPC message of a client. An answer is one to a request of ours. */
export type ClientMessage =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "answer"; readonly id: RequestId; readonly answer: AnswerOfClient };

/** As it came: what it is an answer to decides what it must be. */
export type AnswerOfClient = { readonly result: JsonValue } | { readonly error: JsonValue };

/** Null for what is none. */
export function readMessage(value: unknown): ClientMessage | null {
  return messageSchema.safeParse(value).data ?? null;
}

const jsonrpc = z.literal("2.0");
const idSchema = z.union([z.string(), z.number()]);
const paramsSchema = z.record(z.string(), z.json()).default({});
const json = z.json();

const messageSchema: z.ZodType<ClientMessage> = z.union([
  z
    .strictObject({ jsonrpc, id: idSchema, method: z.string(), params: paramsSchema })
    .transform(({ id, method, params }) => ({ kind: "request" as const, id, method, params })),
  z
    .strictObject({ jsonrpc, method: z.string(), params: paramsSchema })
    .transform(({ method, params }) => ({ kind: "notification" as const, method, params })),
  z
    .strictObject({ jsonrpc, id: idSchema, result: json })
    .transform(({ id, result }) => ({ kind: "answer" as const, id, answer: { result } })),
  z.strictObject({ jsonrpc, id: idSchema, error: json }).transform(({ id, error }) => ({ kind: "answer" as const, id, answer: { error } })),
]);

export function resultMessage(id: RequestId, result: Result): object {
  return { jsonrpc: "2.0", id, result };
}

export function errorMessage(id: RequestId, error: ClientError): object {
  return { jsonrpc: "2.0", id, error };
}

export function requestMessage(id: string, method: string, params: JsonObject): object {
  return { jsonrpc: "2.0", id, method, params };
}

export function notificationMessage(method: string, params: Readonly<Record<string, unknown>> = {}): object {
  return { jsonrpc: "2.0", method, params };
}

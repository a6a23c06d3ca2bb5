import { taskIdSchema, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { RequestId } from "./messages.ts";

/**
 * The names under which nodes find again what a client brings back: ids of events, in `Last-Event-ID`, and ids of requests of ours, in its
 * answers. They say where to look and carry no right: a call is looked up within the session, a task's handle is bound to its principal.
 */
export type WireName =
  | { readonly kind: "call"; readonly callId: TaskId; readonly position: number }
  | { readonly kind: "session"; readonly at: Date }
  | { readonly kind: "result"; readonly handle: string; readonly requestId: RequestId; readonly asked: readonly string[] };

/** Of the event with a call's answer: nothing comes after it. */
export const LAST_POSITION = 2 ** 31 - 1;

export function callName(callId: TaskId, position: number): string {
  return `c.${callId}.${position}`;
}

export function sessionName(at: Date): string {
  return `s.${at.getTime()}`;
}

/** `asked` are the keys of the questions that the client has been asked on the stream so far. */
export function resultName(handle: string, requestId: RequestId, asked: readonly string[]): string {
  return `r.${Buffer.from(JSON.stringify([handle, requestId, asked])).toString("base64url")}`;
}

/** Null for everything that is no name of ours. */
export function readWireName(text: string): WireName | null {
  const [kind = "", ...parts] = text.split(".");
  switch (kind) {
    case "c":
      return readCallName(parts);
    case "s":
      return readSessionName(parts);
    case "r":
      return readResultName(parts);
    default:
      return null;
  }
}

const positionSchema = z
  .string()
  .regex(/^\d{1,10}$/u)
  .transform(Number)
  .pipe(z.int().max(LAST_POSITION));

function readCallName([id, position, ...rest]: readonly string[]): WireName | null {
  const callId = taskIdSchema.safeParse(id);
  const parsed = positionSchema.safeParse(position);
  return rest.length === 0 && callId.success && parsed.success ? { kind: "call", callId: callId.data, position: parsed.data } : null;
}

function readSessionName([text = "", ...rest]: readonly string[]): WireName | null {
  return rest.length === 0 && /^\d{1,15}$/u.test(text) ? { kind: "session", at: new Date(Number(text)) } : null;
}

const resultSchema = z.tuple([z.string(), z.union([z.string(), z.number()]), z.array(z.string())]);

function readResultName([text = "", ...rest]: readonly string[]): WireName | null {
  if (rest.length > 0) return null;
  try {
    const [handle, requestId, asked] = resultSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return { kind: "result", handle, requestId, asked };
  } catch {
    return null;
  }
}

/** The id of a task's question. Handles hold no space, and neither do keys. */
export function taskQuestionName(handle: string, key: string): string {
  return `${handle} ${key}`;
}

export function readTaskQuestionName(text: string): { readonly handle: string; readonly key: string } | null {
  const end = text.indexOf(" ");
  return end < 0 ? null : { handle: text.slice(0, end), key: text.slice(end + 1) };
}

import {
  AppError,
  inputMethodSchema,
  taskIdSchema,
  type InputAnswer,
  type JsonValue,
  type Principal,
  type Seals,
  type TaskId,
} from "@holdfast/core";
import { z } from "zod";
import { invalidArguments } from "./parse-arguments.ts";
import { digestOf } from "./request-identity.ts";

/** What a request is about, so that its state is good for this request alone. */
export interface RequestSubject {
  readonly principal: Pick<Principal, "issuer" | "subject">;
  readonly method: "tools/call" | "prompts/get";
  readonly name: string;
  readonly arguments: JsonValue;
}

/**
 * What the server has to know again when the client comes back with answers: `asking` before there is a task, with the answers of the
 * rounds so far; `parked` for an ordinary call whose task waits for its client.
 */
export type RequestState =
  | { readonly kind: "asking"; readonly answers: readonly InputAnswer[] }
  | { readonly kind: "parked"; readonly taskId: TaskId };

/** `requestState` of MCP: carried by the client, which may neither read anything secret in it nor change it (contract 3). */
export interface RequestStates {
  /** Throws `AppError` "invalid_arguments" for answers that no request could bring back. */
  close(subject: RequestSubject, state: RequestState, expiresAt: Date): string;
  /** Throws `AppError` "request_state_invalid" for everything that `close` did not make for exactly this request, or too long ago. */
  open(subject: RequestSubject, text: string): RequestState;
}

/** How long a client has to answer one round, in milliseconds: a person may be asked. */
export const ROUND_MS = 60 * 60_000;

const PURPOSE = "request state";
/** Sampled answers may be long; what is longer than this would not come back in a request either. */
const MAX_LENGTH = 512 * 1024;

/** `payload.key.signature`, the payload being JSON in base64url. */
export function createRequestStates({ seals, now }: { readonly seals: Seals; readonly now: () => number }): RequestStates {
  return {
    close: (subject, state, expiry) => {
      const payload = Buffer.from(JSON.stringify({ ...state, expiresAt: expiry.getTime() })).toString("base64url");
      const text = `${payload}.${seals.seal(PURPOSE, sealed(subject, payload))}`;
      if (text.length <= MAX_LENGTH) return text;
      throw invalidArguments([{ path: "inputResponses", message: "the answers of all rounds together are too long" }]);
    },
    open: (subject, text) => {
      const end = text.indexOf(".");
      const payload = text.slice(0, Math.max(end, 0));
      const isOurs = text.length <= MAX_LENGTH && seals.isGenuine(PURPOSE, sealed(subject, payload), text.slice(end + 1));
      if (!isOurs) throw new AppError("request_state_invalid", "a requestState without our seal for this request");
      const { expiresAt: expiry, ...state } = payloadSchema.parse(JSON.parse(Buffer.from(payload, "base64url").toString()));
      if (expiry <= now()) throw new AppError("request_state_invalid", "a requestState that has expired");
      return state;
    },
  };
}

function sealed({ principal, method, name, arguments: given }: RequestSubject, payload: string): readonly JsonValue[] {
  return [principal.issuer, principal.subject, method, name, digestOf(given), payload];
}

const answerSchema = z.object({ key: z.string(), method: inputMethodSchema, answer: z.record(z.string(), z.json()) });
const expiresAt = z.number();
const payloadSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("asking"), answers: z.array(answerSchema), expiresAt }),
  z.object({ kind: z.literal("parked"), taskId: taskIdSchema, expiresAt }),
]);

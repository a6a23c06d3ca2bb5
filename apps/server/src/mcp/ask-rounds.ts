import { AppError, type AskRound, type InputAnswer, type InputRequests, type JsonObject } from "@holdfast/core";
import { missingCapabilities } from "./client-capabilities.ts";
import { deliverableRequests } from "./input-requests.ts";

/** What is asked before anything is created: `askFirst` of an operation or a prompt, its arguments given. */
export type Ask = (round: AskRound) => InputRequests | null;

export interface AskedSoFar {
  readonly ask: Ask;
  /** Answers of earlier rounds. */
  readonly known: readonly InputAnswer[];
  /** What came with this request. */
  readonly given: readonly InputAnswer[];
  /** What the client declared with this request. */
  readonly capabilities: JsonObject;
}

/** `requests` null when nothing is missing any more; `answers` are those that fitted a question, the newest for each key. */
export interface AskResult {
  readonly answers: readonly InputAnswer[];
  readonly requests: InputRequests | null;
}

/**
 * Asks until nothing is missing or nothing that was given fits what is missing: then the client is asked again, for a wrong answer as
 * for a missing one. Throws `AppError` "capability_required" when the client cannot be asked.
 */
export function askWhatIsMissing({ ask, known, given, capabilities }: AskedSoFar): AskResult {
  const answers = new Map(known.map((answer) => [answer.key, answer]));
  let left = given;
  for (;;) {
    const asked = ask({ answers: Object.fromEntries(Array.from(answers.values(), ({ key, answer }) => [key, answer])), capabilities });
    if (asked === null) return { answers: [...answers.values()], requests: null };
    const requests = deliverableRequests(asked);
    const fitting = left.filter(({ key, method }) => Object.hasOwn(requests, key) && requests[key]?.method === method);
    if (fitting.length === 0) {
      requireCapabilities(missingCapabilities(requests, capabilities));
      return { answers: [...answers.values()].filter(({ key }) => !Object.hasOwn(requests, key)), requests };
    }
    for (const answer of fitting) answers.set(answer.key, answer);
    left = left.filter((answer) => !fitting.includes(answer));
  }
}

/** Throws `AppError` "capability_required" unless nothing is missing. */
export function requireCapabilities(missing: JsonObject | null): void {
  if (missing === null) return;
  throw new AppError("capability_required", `the client lacks ${Object.keys(missing).join(", ")}`, {
    data: { requiredCapabilities: missing },
  });
}

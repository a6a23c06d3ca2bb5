import type { AppError, Principal } from "@holdfast/core";

/**
 * One HTTP request on its way through the protocol: who sent it, and what it turned into. `refusal` is what the HTTP status and
 * headers must say too; `fault` is what an operator must see; `isBodyDone` says that an answer that goes on as a stream keeps nothing of what
 * was sent.
 */
export interface Exchange {
  readonly requestId: string;
  readonly principal: Principal;
  /** When the token ends that says so: an answer may come later, but what goes on for long must not. */
  readonly expiresAt: Date;
  /** Destroys the connection that the request came on. */
  readonly hangUp: () => void;
  refusal: AppError | null;
  fault: unknown;
  isBodyDone: boolean;
}

export function openExchange(parts: Pick<Exchange, "requestId" | "principal" | "expiresAt" | "hangUp">): Exchange {
  return { ...parts, refusal: null, fault: null, isBodyDone: false };
}

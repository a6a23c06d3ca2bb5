/** How long a finished task stays readable, in milliseconds (contract 12.1). */
export const DEFAULT_TTL_MS = 24 * 60 * 60 * 1000;
export const MIN_TTL_MS = 60 * 1000;
export const MAX_TTL_MS = 7 * 24 * 60 * 60 * 1000;
/** How long a task is there after its end, whatever was agreed: less than the shortest lifetime, so that quick work changes none. */
export const LINGER_MS = 30 * 1000;

/**
 * The lifetime of a task that ends `ageMs` after it was created: what was granted then, and at least `LINGER_MS` from now. A client
 * that asked for less time than the work took would never see the result.
 */
export function ttlAtEnd(grantedMs: number, ageMs: number): number {
  return Math.max(grantedMs, ageMs + LINGER_MS);
}

/** What clients are asked to leave between two polls, in milliseconds. */
export const POLL_INTERVAL_MS = 1000;

/**
 * The retention that a client gets for the one it asked for, in milliseconds: whole positive numbers are moved into the limits, and
 * null, which asks for no end, gets the longest. Null for everything else, which is to be refused before anything is created.
 */
export function negotiateTtl(requested: unknown): number | null {
  if (requested === undefined) return DEFAULT_TTL_MS;
  if (requested === null) return MAX_TTL_MS;
  if (typeof requested !== "number" || !Number.isInteger(requested) || requested <= 0) return null;
  return Math.min(Math.max(requested, MIN_TTL_MS), MAX_TTL_MS);
}

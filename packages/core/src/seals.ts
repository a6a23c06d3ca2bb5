import type { JsonValue } from "./json.ts";

/**
 * Proof that a record was written by a process of ours: an HMAC with a key that the database does not hold. Several keys verify, one
 * seals, so that rotating keys orphans nothing (contract 3.3).
 */
export interface Seals {
  /** `purpose` keeps the seals of different kinds of records apart. */
  seal(purpose: string, parts: readonly JsonValue[]): string;
  /** False for a seal of other parts, of another purpose, or of a key that is not known. */
  isGenuine(purpose: string, parts: readonly JsonValue[], seal: string): boolean;
}

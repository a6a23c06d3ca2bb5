import { timingSafeEqual } from "node:crypto";

/** Whether a signature is the expected one, in a time that does not tell how much of it is. */
export function isSameText(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

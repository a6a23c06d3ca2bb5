import { isDeepStrictEqual } from "node:util";
import { AppError } from "@holdfast/core";
import { expect } from "vitest";

/** The reference of every failure that a worker of a sequence reports; any other is a store's own. */
export const GIVEN = "00000000-0000-4000-8000-00000000000a";
export const MADE = "00000000-0000-4000-8000-00000000000b";

/** What came of it; an error with a name is an answer too. */
export async function answerOf(acting: Promise<unknown>): Promise<unknown> {
  try {
    return await acting;
  } catch (error) {
    if (error instanceof AppError) return { rejected: error.code };
    throw error;
  }
}

export function isRejection(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && "rejected" in answer;
}

export function assertAlike(actual: unknown, expected: unknown): void {
  expect(comparable(actual)).toEqual(comparable(expected));
}

export function areAlike(actual: unknown, expected: unknown): boolean {
  return isDeepStrictEqual(comparable(actual), comparable(expected));
}

/** Answers that hold a task may show it as it was a moment later, when another answer had changed it again. */
export function withoutTasks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTasks);
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array) return value;
  if ("createdAt" in value && "id" in value) return { id: value.id };
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutTasks(member)]));
}

/** What a claim hands over in no promised order. */
const UNORDERED = ["steps", "inputs"];

/** The answer without what each store chooses for itself: times, references of its own, and that order. */
function comparable(value: unknown, name = ""): unknown {
  if (value instanceof Date) return "a time";
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) {
    const members = value.map((member) => comparable(member));
    return UNORDERED.includes(name) ? members.toSorted(byText) : members;
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [key, comparableMember(key, member)]);
  return Object.fromEntries(members);
}

function comparableMember(name: string, value: unknown): unknown {
  if (name === "reference") return value === GIVEN ? "as given" : "a reference";
  // A renewed lifetime counts the milliseconds that the test took; everything else here is whole minutes.
  if (name === "ttlMs" && typeof value === "number") return `${Math.floor(value / 60_000)} minutes`;
  return comparable(value, name);
}

function byText(a: unknown, b: unknown): number {
  const [first, second] = [JSON.stringify(a), JSON.stringify(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

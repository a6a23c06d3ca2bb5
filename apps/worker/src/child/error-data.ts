import { inspect } from "node:util";
import type { ErrorData } from "../sandbox/frames.ts";

/** The allow-listed shape in which a thrown value leaves the process. It never throws, whatever was thrown. */
export function errorData(thrown: unknown): ErrorData {
  try {
    if (!(thrown instanceof Error)) return { name: "NonError", message: cut(inspect(thrown, { depth: 2 }), 4_000), stack: null };
    const stack = typeof thrown.stack === "string" ? cut(withCauses(thrown), 8_000) : null;
    return { name: cut(thrown.name, 200), message: cut(thrown.message, 4_000), stack };
  } catch {
    return { name: "Unprintable", message: "the operation threw a value that cannot be described", stack: null };
  }
}

/** What led to an error is usually worth more than where it surfaced. */
function withCauses(error: Error): string {
  const stacks: string[] = [];
  for (let link: unknown = error, depth = 0; link instanceof Error && depth < 5; link = link.cause, depth += 1)
    stacks.push(String(link.stack));
  return stacks.join("\ncaused by: ");
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

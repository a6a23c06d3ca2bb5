import { AppError, findUnstorableText, type JsonObject, type JsonValue } from "@holdfast/core";
import { z } from "zod";

/** What is wrong with one argument. `path` is empty for the arguments as a whole. */
export interface ArgumentIssue {
  readonly path: string;
  readonly message: string;
}

const MAX_ISSUES = 20;

/** What the schema makes of what was given, defaults filled in. Throws `AppError` "invalid_arguments" that names each field. */
export function parseArguments<Output>(schema: z.ZodType<Output>, given: JsonValue): Output {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw invalidArguments(parsed.error.issues.slice(0, MAX_ISSUES).flatMap(describeIssue));
}

/** Arguments by name; anything else is refused. */
export function parseArgumentObject(given: JsonValue): JsonObject {
  if (isObject(given)) return given;
  throw invalidArguments([{ path: "", message: "expected an object of arguments" }]);
}

/** An operation's input, which is stored and sent to a worker: whatever a schema's transforms made of it, it is JSON that Postgres keeps. */
export function parseStoredInput(schema: z.ZodType, given: JsonValue): JsonObject & { readonly workspaceId: string } {
  refuseUnstorableText(given);
  return storedInputSchema.parse(parseArguments(schema, given));
}

/** Postgres can keep it, in `text` and in `jsonb`. Throws `AppError` "invalid_arguments" that names the place. */
export function refuseUnstorableText(value: JsonValue): void {
  const path = findUnstorableText(value);
  if (path === null) return;
  throw invalidArguments([{ path: path.join("."), message: "Text with NUL or half of a surrogate pair cannot be kept." }]);
}

export function invalidArguments(issues: readonly ArgumentIssue[]): AppError {
  return new AppError("invalid_arguments", issues.map(({ path, message }) => `${path}: ${message}`).join("; "), { data: { issues } });
}

const storedInputSchema = z.object({ workspaceId: z.string() }).catchall(z.json());

/** An unknown member is reported at the object that holds it; callers look for its own name. */
function describeIssue(issue: z.core.$ZodIssue): ArgumentIssue[] {
  if (issue.code !== "unrecognized_keys") return [{ path: issue.path.map(String).join("."), message: issue.message }];
  return issue.keys.map((key) => ({ path: [...issue.path, key].map(String).join("."), message: "Unknown argument" }));
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

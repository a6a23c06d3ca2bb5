import { AppError, type JsonObject, type JsonValue, type Operation } from "@holdfast/core";
import { z } from "zod";

/** What is wrong with one argument. `path` is empty for the arguments as a whole. */
export interface ArgumentIssue {
  readonly path: string;
  readonly message: string;
}

const MAX_ISSUES = 20;

/** A call's arguments with their defaults filled in. Throws `AppError` "invalid_arguments" that names each field. */
export function parseArguments(operation: Operation, given: JsonValue): JsonObject & { readonly workspaceId: string } {
  const parsed = operation.input.safeParse(given);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, MAX_ISSUES).flatMap(describeIssue);
    throw new AppError("invalid_arguments", `arguments of ${operation.name} do not fit`, { data: { issues } });
  }
  // Whatever a schema's transforms made of it, only JSON can be stored and sent to a worker.
  return storedInputSchema.parse(parsed.data);
}

const storedInputSchema = z.object({ workspaceId: z.string() }).catchall(z.json());

/** An unknown member is reported at the object that holds it; callers look for its own name. */
function describeIssue(issue: z.core.$ZodIssue): ArgumentIssue[] {
  if (issue.code !== "unrecognized_keys") return [{ path: issue.path.map(String).join("."), message: issue.message }];
  return issue.keys.map((key) => ({ path: [...issue.path, key].map(String).join("."), message: "Unknown argument" }));
}

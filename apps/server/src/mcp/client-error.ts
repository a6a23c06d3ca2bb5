import { ERRORS, type AppError, type ErrorCode } from "@holdfast/core";
import { z } from "zod";

/** A JSON-RPC error object: the fixed text of the code, and only such data as the caller may know. */
export interface ClientError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What a caller is told of a refusal. The error's own message stays in the log. */
export function clientError({ code, data }: Pick<AppError, "code" | "data">): ClientError {
  const { rpcCode, message } = ERRORS[code];
  return { code: rpcCode, message: withAdvice(code, message, data), ...(data === undefined ? {} : { data }) };
}

/** What a caller is told of a task that failed: the same for an ordinary call and for a task. */
export function taskError({ code, reference }: { readonly code: ErrorCode; readonly reference: string }): ClientError {
  return { code: ERRORS[code].rpcCode, message: ERRORS[code].message, data: { reference } };
}

const issuesSchema = z.object({ issues: z.array(z.object({ path: z.string(), message: z.string() })) });
const workspacesSchema = z.object({ workspaces: z.array(z.string()) });
const scopesSchema = z.object({ scopes: z.array(z.string()) });
const capabilitiesSchema = z.object({ requiredCapabilities: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** Many clients show a person, or a model, the message alone, so it says what to do about the mistakes that callers make. */
function withAdvice(code: ErrorCode, message: string, data: unknown): string {
  if (code === "invalid_arguments") {
    const issues = issuesSchema.safeParse(data).data?.issues;
    if (issues === undefined) return message;
    return `Invalid arguments: ${issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`)).join("; ")}`;
  }
  if (code === "workspace_not_found") {
    const workspaces = workspacesSchema.safeParse(data).data?.workspaces ?? [];
    return workspaces.length === 0 ? message : `${message} You may work in: ${workspaces.join(", ")}.`;
  }
  if (code === "insufficient_scope") return withNeeds(message, scopesSchema.safeParse(data).data?.scopes ?? []);
  if (code === "capability_required") return withNeeds(message, capabilityNames(data));
  return message;
}

function withNeeds(message: string, needs: readonly string[]): string {
  return needs.length === 0 ? message : `${message} Needed: ${needs.join(", ")}.`;
}

/** Extensions by their own names, everything else with the parts that are meant: `elicitation (form)`. */
function capabilityNames(data: unknown): readonly string[] {
  const required = capabilitiesSchema.safeParse(data).data?.requiredCapabilities ?? {};
  return Object.entries(required).flatMap(([name, members]) => {
    const parts = Object.keys(members);
    if (name === "extensions") return parts;
    return parts.length === 0 ? [name] : [`${name} (${parts.join(", ")})`];
  });
}

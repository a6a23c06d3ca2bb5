import { z } from "zod";
import type { OperationContext } from "./context.ts";
import type { ToolResult } from "./tool-result.ts";

/** Whether an operation changes files of its workspace. */
export type Effect = "read" | "write";

/** MCP's view of how a tool may be called: as a task or not (`execution.taskSupport` of 2025-11-25 uses the same words). */
export type TaskSupport = "optional" | "required" | "forbidden";

export interface OperationLimits {
  /** Wall time of one attempt, in milliseconds, after which its process is killed. */
  readonly timeoutMs: number;
  /** JavaScript heap of the child process, in MiB. */
  readonly memoryMiB: number;
  /** Bytes of one result (JSON) that may be stored; larger outputs belong into artifacts. */
  readonly resultBytes: number;
  /** Bytes of all artifacts of one attempt together. */
  readonly artifactBytes: number;
}

export const DEFAULT_LIMITS: OperationLimits = {
  timeoutMs: 300_000,
  memoryMiB: 1024,
  resultBytes: 1024 * 1024,
  artifactBytes: 256 * 1024 * 1024,
};

/** The loadable description of an operation. The server lists and validates tools from it without loading a handler. */
export interface Operation<Input = unknown> {
  /** MCP tool name: pack prefix, a dot, snake case. */
  readonly name: string;
  /** Grows when the same input would no longer give the same answer. */
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Shape of `structuredContent`, as JSON Schema for clients; null when the operation answers text only. */
  readonly output: z.ZodType | null;
  readonly effect: Effect;
  readonly tasks: TaskSupport;
  /** Which workers may run it: those that declare this pool. */
  readonly pool: string;
  readonly limits: OperationLimits;
  /** OAuth scopes that a token must carry to call it, all of them. */
  readonly scopes: readonly string[];
  /** Names the workspace that an input addresses. */
  readonly workspaceOf: (input: Input) => string;
}

type Optional<Input> = Partial<Pick<Operation<Input>, "output" | "tasks" | "pool" | "scopes">> & { limits?: Partial<OperationLimits> };
type Required<Input> = Omit<Operation<Input>, "output" | "tasks" | "pool" | "scopes" | "limits" | "workspaceOf">;

/**
 * Every operation works in a workspace; an input names it in `workspaceId`, which defaults to `current` (the name under
 * which a team's single workspace is usually registered).
 */
export function defineOperation<Input extends { workspaceId: string }>(definition: Required<Input> & Optional<Input>): Operation<Input> {
  const { limits, ...rest } = definition;
  return Object.freeze({
    output: null,
    tasks: "optional" as const,
    pool: "default",
    scopes: [],
    ...rest,
    limits: { ...DEFAULT_LIMITS, ...limits },
    workspaceOf: (input: Input) => input.workspaceId,
  });
}

/** A handler with its manifest: what a pack's `handlers` entry exports. */
export interface HandledOperation {
  readonly operation: Operation<never>;
  readonly run: (input: never, context: OperationContext) => Promise<ToolResult>;
}

/**
 * Binds the function that does the work. It returns a tool result (also for findings that make the call useless to the
 * caller: `isError: true`); it throws only for bugs and for faults of its surroundings, which cost an attempt.
 */
export function handle<Input>(operation: Operation<Input>, run: (input: Input, context: OperationContext) => Promise<ToolResult>): HandledOperation {
  return { operation: operation as Operation<never>, run: run as HandledOperation["run"] };
}

import type { z } from "zod";
import type { JsonObject } from "../json.ts";
import type { InputMethod, InputRequests } from "../tasks/input.ts";
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

/** Every operation works in a workspace; a schema gives `workspaceId` the default `current`, the usual name of a team's only one. */
export interface OperationInput {
  readonly workspaceId: string;
}

/** The loadable description of an operation. The server lists and validates tools from it without loading a handler. */
export interface Operation<Input extends OperationInput = OperationInput> {
  /** MCP tool name: pack prefix, a dot, snake case. */
  readonly name: string;
  /** Grows when the same input would no longer give the same answer. */
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** The JSON Schema that clients are shown instead of the one that `input` makes, for what zod cannot say; null for none. */
  readonly shownInput: JsonObject | null;
  /** Shape of `structuredContent`, as JSON Schema for clients; null when the operation answers text only. */
  readonly output: z.ZodType | null;
  readonly effect: Effect;
  readonly tasks: TaskSupport;
  /** Which workers may run it: those that declare this pool. */
  readonly pool: string;
  readonly limits: OperationLimits;
  /** OAuth scopes that a token must carry to call it, all of them. */
  readonly scopes: readonly string[];
  /**
   * Whether the same input in the same files gives the same answer, so that identical reads share one task and its result (contract
   * 4.8). True unless said otherwise; writes are never shared.
   */
  readonly contentAddressed: boolean;
  /** What it may ask of the client in mid-task: a client that cannot answer is told before anything is created. */
  readonly asks: readonly InputMethod[];
  /**
   * What has to be known before there is a task; null when nothing is missing. Runs on the server, at once, with what was answered in
   * earlier rounds. The answers are there for `context.input` under the same keys.
   */
  askFirst?(input: Input, round: AskRound): InputRequests | null;
}

export interface AskRound {
  /** MCP's results of the questions of earlier rounds, by key. Clients may answer anything: look before believing. */
  readonly answers: Readonly<Record<string, JsonObject>>;
  /** What the client declared that it can do, as MCP spells it. */
  readonly capabilities: JsonObject;
}

type Defaulted = "shownInput" | "output" | "tasks" | "pool" | "scopes" | "limits" | "contentAddressed" | "asks";
type OperationDefinition<Input extends OperationInput> = Omit<Operation<Input>, Defaulted> &
  Partial<Omit<Pick<Operation<Input>, Defaulted>, "limits">> & { readonly limits?: Partial<OperationLimits> };

/** Fills in what most operations share: no declared output, callable both ways, pool `default`, no scope, no questions, `DEFAULT_LIMITS`. */
export function defineOperation<Input extends OperationInput>(definition: OperationDefinition<Input>): Operation<Input> {
  return Object.freeze({
    shownInput: null,
    output: null,
    tasks: "optional" as const,
    pool: "default",
    scopes: [],
    contentAddressed: true,
    asks: [],
    ...definition,
    limits: { ...DEFAULT_LIMITS, ...definition.limits },
  });
}

/** A handler with its manifest: what a pack's `handlers` entry exports. */
export interface HandledOperation {
  readonly operation: Operation;
  /** Takes what `operation.input` parsed. */
  readonly run: (input: never, context: OperationContext) => Promise<ToolResult>;
}

/**
 * Binds the function that does the work. It returns a tool result (also for findings that make the call useless to the
 * caller: `isError: true`); it throws only for bugs and for faults of its surroundings, which cost an attempt.
 */
export function handle<Input extends OperationInput>(
  operation: Operation<Input>,
  run: (input: Input, context: OperationContext) => Promise<ToolResult>,
): HandledOperation {
  return { operation, run };
}

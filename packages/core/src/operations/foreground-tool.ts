import type { z } from "zod";
import type { ToolResult } from "./tool-result.ts";

/** Lists that clients may be told to read again. */
export const LIST_NAMES = ["tools", "prompts", "resources"] as const;
export type ListName = (typeof LIST_NAMES)[number];

/**
 * A tool that the node answers itself, at once and from the manifest alone: no task, no worker and no files of a workspace. Only for
 * what needs none of them; everything else is an operation.
 */
export interface ForegroundTool<Input = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Must describe an object. */
  readonly input: z.ZodType<Input>;
  run(input: Input, context: ForegroundContext): ToolResult;
}

export interface ForegroundContext {
  /** Tells every client that listens for it that the list has changed. */
  announce(list: ListName): void;
}

/** Keeps the types of input and function together; a pack holds the tool without them. */
export function defineForegroundTool<Input>(tool: ForegroundTool<Input>): ForegroundTool {
  // The one caller parses with `input` before it runs.
  return { ...tool, run: (input, context) => tool.run(tool.input.parse(input), context) };
}

import type { JsonValue, ToolResult } from "@holdfast/core";
import type { Caller } from "./caller.ts";
import type { ToolDescription } from "./tool-catalog.ts";

/** A tool that the node answers itself, in the foreground: no task, no worker, so that it answers while all of them are busy. */
export interface NodeTool {
  readonly description: ToolDescription;
  /** Rejects with `AppError` as operations do. */
  run(caller: Caller, given: JsonValue): Promise<ToolResult>;
}

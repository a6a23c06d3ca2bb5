import { toolResultSchema, type Operation, type ToolResult } from "@holdfast/core";

export type ParsedResult =
  | { readonly kind: "result"; readonly result: ToolResult }
  /** `detail` is for operators: it may quote what the operation answered. */
  | { readonly kind: "invalid"; readonly detail: string };

/**
 * What a child calls a result becomes one here: the shape of a tool result, its `structuredContent` as the operation
 * declares it, and its size as it will be stored. A result that reports an error owes no structured content.
 */
export function parseResult(answer: unknown, operation: Pick<Operation, "output" | "limits">): ParsedResult {
  const { output, limits } = operation;
  try {
    const parsed = toolResultSchema.safeParse(answer);
    if (!parsed.success) return invalid(`not a tool result: ${parsed.error.message}`);
    const result = parsed.data;
    if (output !== null && result.isError !== true) {
      const structured = output.safeParse(result.structuredContent);
      if (!structured.success) return invalid(`structuredContent is not what the operation declares: ${structured.error.message}`);
    }
    const bytes = Buffer.byteLength(JSON.stringify(result));
    return bytes > limits.resultBytes ? invalid(`${bytes} bytes exceed the limit of ${limits.resultBytes}`) : { kind: "result", result };
  } catch (error) {
    // Values nested by the ten thousand overflow the stack of whoever walks them.
    return invalid(`cannot be checked: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

function invalid(detail: string): ParsedResult {
  return { kind: "invalid", detail: detail.slice(0, 2_000) };
}

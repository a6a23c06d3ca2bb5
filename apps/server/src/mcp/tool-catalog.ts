import { z } from "zod";
import type { Operation, OperationRegistry } from "@holdfast/core";

/** A JSON Schema whose root is an object, as MCP asks of tools. */
export interface ObjectSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/** How clients see an operation. */
export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: {
    readonly title: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/**
 * All operations, pack by pack and in the order of their manifests, which shows the useful ones first. Made once when the node starts, since a schema costs more than a request does.
 * Throws for an operation whose input or output is not an object: no client could call it.
 */
export function describeTools(registry: OperationRegistry): readonly ToolDescription[] {
  return Array.from(registry.values(), describeTool);
}

function describeTool(operation: Operation): ToolDescription {
  const { name, title, description, effect, input, output } = operation;
  return {
    name,
    title,
    description,
    inputSchema: objectSchema(input, "input", name),
    ...(output === null ? {} : { outputSchema: objectSchema(output, "output", name) }),
    annotations: { title, readOnlyHint: effect === "read", destructiveHint: effect === "write", openWorldHint: false },
  };
}

/** `input` shows what callers may send: a member with a default is optional. `output` shows what they can rely on. */
function objectSchema(schema: z.ZodType, io: "input" | "output", operation: string): ObjectSchema {
  const { type, ...keywords } = z.toJSONSchema(schema, { io });
  if (type !== "object") throw new Error(`the ${io} of the operation "${operation}" is not an object`);
  return { type, ...keywords };
}

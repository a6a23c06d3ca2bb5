import type { Effect, Operation, OperationRegistry } from "@holdfast/core";
import { checkedObjectSchema, objectSchema, type ObjectSchema } from "./object-schema.ts";
import { withRequestKey } from "./request-key.ts";

/** How clients see a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: ToolAnnotations;
}

export interface ToolAnnotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly openWorldHint: boolean;
  readonly idempotentHint?: boolean;
}

/**
 * All operations, pack by pack and in the order of their manifests, which shows the useful ones first. Made once when the node starts,
 * since a schema costs more than a request does. Throws for an operation that no client could call.
 */
export function describeTools(registry: OperationRegistry): readonly ToolDescription[] {
  return Array.from(registry.values(), describeTool);
}

export function annotationsOf(title: string, effect: Effect): ToolAnnotations {
  return { title, readOnlyHint: effect === "read", destructiveHint: effect === "write", openWorldHint: false };
}

function describeTool(operation: Operation): ToolDescription {
  const { name, title, description, effect, output } = operation;
  const inputSchema = inputSchemaOf(operation);
  return {
    name,
    title,
    description,
    inputSchema: effect === "write" ? withRequestKey(inputSchema, operation) : inputSchema,
    ...(output === null ? {} : { outputSchema: objectSchema(output, "output", name) }),
    annotations: annotationsOf(title, effect),
  };
}

function inputSchemaOf({ name, input, shownInput }: Operation): ObjectSchema {
  return shownInput === null ? objectSchema(input, "input", name) : checkedObjectSchema(shownInput, `the input of the tool "${name}"`);
}

import { z } from "zod";
import type { JsonObject } from "../json.ts";
import { artifactLinkSchema, type ArtifactLink } from "../artifacts/artifact-link.ts";

/**
 * What an operation returns and the store keeps: the exact MCP tool result (contract 1.5). A task delivers the same
 * value that an ordinary call does. Only the block kinds that our operations produce are admitted.
 */
const annotationsSchema = z.looseObject({}).optional();
export const contentBlockSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), annotations: annotationsSchema }),
  z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string(), annotations: annotationsSchema }),
  z.object({ type: z.literal("audio"), data: z.string(), mimeType: z.string(), annotations: annotationsSchema }),
  z.object({
    type: z.literal("resource"),
    resource: z.object({ uri: z.string(), mimeType: z.string().optional(), text: z.string().optional(), blob: z.string().optional() }),
    annotations: annotationsSchema,
  }),
  artifactLinkSchema.extend({ type: z.literal("resource_link") }),
]);
export type ContentBlock = z.infer<typeof contentBlockSchema>;

export const toolResultSchema = z.object({
  content: z.array(contentBlockSchema).max(10_000),
  structuredContent: z.record(z.string(), z.json()).optional(),
  isError: z.boolean().optional(),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

/** The usual result: one short text, one link for each artifact, and the structured value that programs read. */
export function toolResult(parts: {
  text: string;
  structured?: JsonObject;
  links?: readonly ArtifactLink[];
  isError?: boolean;
}): ToolResult {
  const result: ToolResult = {
    content: [{ type: "text", text: parts.text }, ...(parts.links ?? []).map((link) => ({ type: "resource_link" as const, ...link }))],
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same JSON values; zod only does not call them readonly
  if (parts.structured !== undefined) result.structuredContent = parts.structured as Record<string, z.core.util.JSONType>;
  if (parts.isError === true) result.isError = true;
  return result;
}

import { CLIENT_CAPABILITIES_META_KEY, classifyInboundRequest } from "@modelcontextprotocol/server";
import type { JsonObject } from "@holdfast/core";
import { z } from "zod";
import type { SubscriptionId } from "./messages.ts";

/** A `subscriptions/listen` request that has passed everything that any request of its revision must pass. */
export interface ListenRequest {
  readonly id: SubscriptionId;
  /** What it asks for; null when that is not a filter. */
  readonly filter: ListenFilter | null;
  /** What the client declared in this request that it can do. */
  readonly capabilities: JsonObject;
}

export type ListenFilter = z.infer<typeof filterSchema>;

const METHOD = "subscriptions/listen";
const REVISION = "2026-07-28";

/**
 * Null for every other request, and for a listen request that lacks a header or names another revision: the SDK refuses those as it
 * refuses any method's, with the right code, and its own stream, which knows no tasks, is never reached.
 */
export function readListenRequest(request: Request, body: unknown): ListenRequest | null {
  if (!methodSchema.safeParse(body).success) return null;
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  const [protocolVersionHeader, mcpMethodHeader] = [header("MCP-Protocol-Version"), header("Mcp-Method")];
  if (protocolVersionHeader === undefined || mcpMethodHeader === undefined) return null;
  const route = classifyInboundRequest({ httpMethod: request.method, protocolVersionHeader, mcpMethodHeader, body });
  if (route.kind !== "modern" || route.messageKind !== "request" || route.classification.revision !== REVISION) return null;
  const { params } = route.message;
  return {
    id: route.message.id,
    filter: paramsSchema.safeParse(params).data?.notifications ?? null,
    capabilities: metaSchema.parse(params)._meta[CLIENT_CAPABILITIES_META_KEY],
  };
}

const methodSchema = z.object({ method: z.literal(METHOD) });
const metaSchema = z.object({ _meta: z.object({ [CLIENT_CAPABILITIES_META_KEY]: z.record(z.string(), z.json()) }) });

const filterSchema = z.object({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).optional(),
  taskIds: z.array(z.string()).optional(),
});
const paramsSchema = z.object({ notifications: filterSchema });

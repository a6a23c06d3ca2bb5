import { classifyInboundRequest, createMcpHandler } from "@modelcontextprotocol/server";
import { ERRORS, type AppError } from "@holdfast/core";
import { z } from "zod";
import { wwwAuthenticate } from "../auth/challenge.ts";
import type { Exchange } from "./exchange.ts";
import type { LegacyEndpoint } from "./legacy/legacy-endpoint.ts";
import type { ListenEndpoint } from "./listen/listen-endpoint.ts";
import { readListenRequest } from "./listen/listen-request.ts";
import { createModernServer, type ModernServerOptions } from "./modern/create-server.ts";

/** The MCP endpoint without HTTP's outer layers: bodies are parsed, the caller is known. */
export interface McpEndpoint {
  /** `body` is the parsed JSON of the request, undefined where there is none to read. Never rejects. */
  handle(request: Request, body: unknown, exchange: Exchange): Promise<Response>;
  /** Ends the exchanges that are still open. */
  close(): Promise<void>;
}

export interface McpEndpointOptions extends ModernServerOptions {
  readonly metadataUrl: string;
  readonly listen: ListenEndpoint;
  /** Null where only the modern protocol is served: clients of earlier revisions are told so in their own terms. */
  readonly legacy: LegacyEndpoint | null;
}

/** Callers are told to come back after this many seconds when the node or its database is too busy. */
export const RETRY_AFTER_SECONDS = 1;

export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  // The SDK carries nothing of ours through an exchange but the request itself.
  const exchanges = new WeakMap<Request, { readonly exchange: Exchange; readonly body: unknown }>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const served = requestInfo === undefined ? undefined : exchanges.get(requestInfo);
      if (requestInfo === undefined || served === undefined) throw new Error("the SDK asked for a server outside of an exchange");
      return createModernServer(options, served.exchange, { headers: requestInfo.headers, body: served.body });
    },
    { legacy: "reject" },
  );
  return {
    handle: async (request, body, exchange) => {
      if (options.legacy !== null && isLegacy(request, body)) {
        const response = await options.legacy.handle(request, body, exchange);
        return concernsHttp(exchange.refusal, response) ? asRefusal(response, exchange.refusal, options.metadataUrl) : response;
      }
      const listen = readListenRequest(request, body);
      // What a listener sent is not kept: its stream may be open for hours.
      if (listen === null) exchanges.set(request, { exchange, body });
      const response =
        listen === null
          ? await handler.fetch(request, body === undefined ? {} : { parsedBody: body })
          : await options.listen.open(listen, request.signal, exchange);
      return exchange.refusal === null ? response : asRefusal(response, exchange.refusal, options.metadataUrl);
    },
    close: () => handler.close(),
  };
}

/** By how it opens: a request of the modern protocol says in itself which revision it is of. */
function isLegacy({ method, headers }: Request, body: unknown): boolean {
  // Without JSON there is nothing to tell the two apart, and both refuse it.
  if (method === "POST" && body === undefined) return false;
  const named = (name: string): string | undefined => headers.get(name) ?? undefined;
  const [protocolVersionHeader, mcpMethodHeader, mcpNameHeader] = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"].map(named);
  const { kind } = classifyInboundRequest({
    httpMethod: method,
    body,
    ...(protocolVersionHeader === undefined ? {} : { protocolVersionHeader }),
    ...(mcpMethodHeader === undefined ? {} : { mcpMethodHeader }),
    ...(mcpNameHeader === undefined ? {} : { mcpNameHeader }),
  });
  return kind === "legacy";
}

/** Clients of 2025 take another status than 200 for a failure of the transport, so only what they must do over HTTP is said there. */
function concernsHttp(refusal: AppError | null, { headers }: Response): refusal is AppError {
  if (refusal === null || headers.get("Content-Type")?.startsWith("application/json") !== true) return false;
  return ERRORS[refusal.code].httpStatus === 403 || ERRORS[refusal.code].httpStatus === 503;
}

/**
 * Some refusals concern HTTP too: a client has to see that another token is needed, a load balancer that this node is busy, and
 * whatever reads headers that they were wrong. The JSON-RPC error in the body stays as it is; everything else is an answer and leaves with the status it has.
 */
function asRefusal(response: Response, refusal: AppError, metadataUrl: string): Response {
  const { httpStatus } = ERRORS[refusal.code];
  if (httpStatus === 403) {
    const challenge = wwwAuthenticate({
      status: 403,
      error: "insufficient_scope",
      description: ERRORS.insufficient_scope.message,
      scopes: scopesSchema.parse(refusal.data).scopes,
      metadataUrl,
    });
    return withHeader(response, 403, "WWW-Authenticate", challenge);
  }
  if (httpStatus === 503) return withHeader(response, 503, "Retry-After", String(RETRY_AFTER_SECONDS));
  return httpStatus === 400 ? new Response(response.body, { status: 400, headers: response.headers }) : response;
}

const scopesSchema = z.object({ scopes: z.array(z.string()) });

function withHeader(response: Response, status: number, name: string, value: string): Response {
  const headers = new Headers(response.headers);
  headers.set(name, value);
  return new Response(response.body, { status, headers });
}

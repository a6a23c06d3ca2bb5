import { randomUUID } from "node:crypto";
import { ERRORS, type Telemetry } from "@holdfast/core";
import { Hono, type Context } from "hono";
import { authenticate, type AuthenticateOptions } from "../auth/authenticate.ts";
import type { ResourceMetadata } from "../auth/resource-metadata.ts";
import type { McpEndpoint } from "../mcp/endpoint.ts";
import { openExchange } from "../mcp/exchange.ts";
import type { Health } from "../ops/health.ts";
import { readJsonBody } from "./body/read-json-body.ts";
import type { HttpEnv } from "./env.ts";
import { rpcErrorResponse } from "./errors/rpc-error.ts";
import { limitInFlight } from "./in-flight/limit-in-flight.ts";
import { checkOrigin, type OriginRules } from "./origin/check-origin.ts";
import { requestId } from "./request-id/request-id.ts";
import { securityHeaders } from "./security-headers/security-headers.ts";
import { reportServed } from "./served/served.ts";

export interface AppOptions {
  readonly origins: OriginRules;
  readonly maxInFlight: number;
  readonly authentication: Pick<AuthenticateOptions, "verify" | "initialScopes">;
  readonly resource: ResourceMetadata;
  readonly endpoint: McpEndpoint;
  readonly health: Health;
  /** True once the node lets go of its connections: each answer then closes the one it came on. */
  readonly isDraining: () => boolean;
  readonly telemetry: Telemetry;
}

const MAX_HEAVY_BYTES = 64 * 1024 * 1024;

/** Everything a node serves over HTTP. The order is the protection: origin, load, identity, and only then the body. */
export function createApp(options: AppOptions): Hono<HttpEnv> {
  const { endpoint, resource, health } = options;
  const authentication = { ...options.authentication, metadataUrl: resource.url };
  const app = new Hono<HttpEnv>();
  app.use(requestId, reportServed(options.telemetry), securityHeaders);
  app.use(async (context, next) => {
    await next();
    if (options.isDraining()) context.header("Connection", "close");
  });
  app.onError(internalError);
  app.notFound(() => rpcErrorResponse({ status: 404, code: -32_601, message: "Not found." }));

  // Probes come by address, from outside of every name this service has, and learn nothing but a state.
  app.get("/livez", (context) => context.json(health.live()));
  app.get("/readyz", async (context) => {
    const { readiness, cause } = await health.ready();
    context.set("fault", cause);
    return context.json(readiness, readiness.status === "unready" ? 503 : 200);
  });

  app.use(checkOrigin(options.origins));
  for (const path of resource.paths) app.get(path, (context) => context.json(resource.document));

  app.use("/mcp", limitInFlight({ maxRequests: options.maxInFlight, maxHeavyBytes: MAX_HEAVY_BYTES }));
  app.all("/mcp", async (context) => {
    const caller = await authenticate(context.req.header("Authorization"), authentication);
    if (caller.kind === "refused") {
      context.set("fault", caller.cause);
      return caller.response;
    }
    const exchange = openExchange({
      requestId: context.get("requestId"),
      principal: caller.principal,
      expiresAt: caller.expiresAt,
      hangUp: () => context.env.outgoing?.destroy(),
    });
    const body = await bodyOf(context);
    if (body instanceof Response) return body;
    const response = await endpoint.handle(context.req.raw, body.value, exchange);
    context.set("fault", exchange.fault);
    context.set("isBodyDone", exchange.isBodyDone);
    return response;
  });
  return app;
}

/** Undefined where there is nothing to read: the endpoint then answers by the method or the media type alone. */
async function bodyOf(context: Context<HttpEnv>): Promise<{ readonly value: unknown } | Response> {
  if (context.req.method !== "POST" || !isJson(context.req.header("Content-Type"))) return { value: undefined };
  const body = await readJsonBody(context.req.raw);
  if (body.kind === "refused") return body.response;
  context.get("bodyRead")?.(body.length);
  return body;
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

function internalError(error: Error, context: Context<HttpEnv>): Response {
  const reference = randomUUID();
  context.set("fault", new Error(`a request failed, reference ${reference}`, { cause: error }));
  const { rpcCode, httpStatus, message } = ERRORS.internal;
  return rpcErrorResponse({ status: httpStatus, code: rpcCode, message, data: { reference } });
}

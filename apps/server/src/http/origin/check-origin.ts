import { createMiddleware } from "hono/factory";
import type { ServerConfig } from "../../config.ts";
import { isLoopbackHost } from "../../config.ts";
import { rpcErrorResponse } from "../errors/rpc-error.ts";
import type { HttpEnv } from "../env.ts";

export type OriginRules = Pick<ServerConfig, "allowedHosts" | "allowedOrigins">;

/**
 * Against pages that make a browser talk to this service under a name of theirs (DNS rebinding), before any token is looked at.
 * Forwarded headers count for nothing: whoever sends the request writes them.
 */
export function checkOrigin(rules: OriginRules): ReturnType<typeof createMiddleware<HttpEnv>> {
  return createMiddleware<HttpEnv>(async (context, next) => {
    if (!isAllowedHost(context.req.header("Host") ?? new URL(context.req.url).host, rules)) return refusal("Host");
    const origin = context.req.header("Origin");
    if (origin !== undefined && !isAllowedOrigin(origin, rules)) return refusal("Origin");
    return await next();
  });
}

function refusal(header: string): Response {
  return rpcErrorResponse({ status: 403, code: -32_000, message: `The ${header} header names a place that this service does not serve.` });
}

function isAllowedHost(host: string, { allowedHosts }: OriginRules): boolean {
  const url = URL.parse(`http://${host}`);
  // Anything but host and port (a path, user info) is no Host header, whatever host it seems to contain.
  return url !== null && /^[^\s/?#@\\]+$/u.test(host) && allowedHosts.includes(url.hostname);
}

function isAllowedOrigin(origin: string, { allowedOrigins }: OriginRules): boolean {
  const url = URL.parse(origin);
  // Origins without an address, such as "null" of a sandboxed frame, can belong to anybody.
  if (url === null || url.origin === "null" || url.origin !== origin) return false;
  return allowedOrigins.some((allowed) => allowed === url.origin || (isLoopback(new URL(allowed)) && isLoopback(url)));
}

/** On one's own machine the port is chosen by whatever tool was started. */
function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && isLoopbackHost(hostname);
}

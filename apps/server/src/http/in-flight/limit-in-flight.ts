import { createMiddleware } from "hono/factory";
import { RETRY_AFTER_SECONDS } from "../../mcp/endpoint.ts";
import { namedErrorResponse } from "../errors/rpc-error.ts";
import type { HttpEnv } from "../env.ts";

/** Serves at most `max` requests at once. The next one is answered at once, since a queue here would only hide that we are full. */
export function limitInFlight(max: number): ReturnType<typeof createMiddleware<HttpEnv>> {
  let inFlight = 0;
  return createMiddleware<HttpEnv>(async (_context, next) => {
    if (inFlight >= max) return namedErrorResponse("overloaded", { headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } });
    inFlight += 1;
    try {
      return await next();
    } finally {
      inFlight -= 1;
    }
  });
}

import type { Telemetry } from "@holdfast/core";
import { createMiddleware } from "hono/factory";
import type { HttpEnv } from "../env.ts";

/** One line for each request that was answered, with what went wrong on our side. Headers and bodies stay out: they hold tokens. */
export function reportServed(telemetry: Telemetry): ReturnType<typeof createMiddleware<HttpEnv>> {
  return createMiddleware<HttpEnv>(async (context, next) => {
    const startedAt = performance.now();
    await next();
    const event = {
      requestId: context.get("requestId"),
      method: context.req.method,
      path: context.req.path,
      status: context.res.status,
      durationMs: Math.round(performance.now() - startedAt),
    };
    telemetry.emit("http.served", event, context.get("fault") ?? undefined);
  });
}

import { createMiddleware } from "hono/factory";
import type { HttpEnv } from "../env.ts";

/** Nothing here is a page: no browser may guess a type, frame it, run it, or keep it. */
export const securityHeaders = createMiddleware<HttpEnv>(async (context, next) => {
  await next();
  context.header("X-Content-Type-Options", "nosniff");
  context.header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  context.header("Referrer-Policy", "no-referrer");
  context.header("Cross-Origin-Resource-Policy", "same-origin");
  if (!context.res.headers.has("Cache-Control")) context.header("Cache-Control", "no-store");
});

import { randomUUID } from "node:crypto";
import { createMiddleware } from "hono/factory";
import type { HttpEnv } from "../env.ts";

const HEADER = "X-Request-Id";
const ACCEPTABLE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/u;

/** Names the request for its answer and its log lines: by the caller's own id where that is plain text, else by a new one. */
export const requestId = createMiddleware<HttpEnv>(async (context, next) => {
  const given = context.req.header(HEADER);
  const id = given !== undefined && ACCEPTABLE.test(given) ? given : randomUUID();
  context.set("requestId", id);
  context.set("fault", null);
  await next();
  context.header(HEADER, id);
});

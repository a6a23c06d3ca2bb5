import type { ServerResponse } from "node:http";
import type { HonoRequest } from "hono";
import { createMiddleware } from "hono/factory";
import { RETRY_AFTER_SECONDS } from "../../mcp/endpoint.ts";
import { BODY_LIMITS } from "../body/read-json-body.ts";
import { namedErrorResponse } from "../errors/rpc-error.ts";
import type { HttpEnv } from "../env.ts";

/** Bodies up to this size cost about what a request costs anyway. */
const LIGHT_BYTES = 64 * 1024;

export interface InFlightLimits {
  readonly maxRequests: number;
  /** Of all bodies that are not light together. On its way to the database, and while a call waits, a body takes its size many times over. */
  readonly maxHeavyBytes: number;
}

/** Serves so much at once and no more. What comes on top is refused at once, since a queue here would only hide that we are full. */
export function limitInFlight({ maxRequests, maxHeavyBytes }: InFlightLimits): ReturnType<typeof createMiddleware<HttpEnv>> {
  let inFlight = 0;
  let heavyBytes = 0;
  return createMiddleware<HttpEnv>(async (context, next) => {
    let bytes = heavyBytesOf(context.req);
    if (inFlight >= maxRequests || (bytes > 0 && heavyBytes + bytes > maxHeavyBytes))
      return namedErrorResponse("overloaded", { headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } });
    inFlight += 1;
    heavyBytes += bytes;
    context.set("bodyRead", (length) => {
      heavyBytes += heavyPart(length) - bytes;
      bytes = heavyPart(length);
    });
    try {
      return await next();
    } finally {
      inFlight -= 1;
      const release = (): void => void (heavyBytes -= bytes);
      if (bytes === 0 || context.get("isBodyDone") === true) release();
      else afterClose(context.env.outgoing, release);
    }
  });
}

/** A response that is a stream has begun long before it ends, and until then the work behind it holds the body. */
function afterClose(outgoing: ServerResponse | undefined, then: () => void): void {
  if (outgoing === undefined || outgoing.closed) then();
  else outgoing.once("close", then);
}

/** One of unknown length counts as the longest that is read, until it has been. */
function heavyBytesOf(request: HonoRequest): number {
  if (request.method !== "POST") return 0;
  const declared = Number(request.header("Content-Length") ?? Number.NaN);
  return heavyPart(declared < BODY_LIMITS.maxBytes ? declared : BODY_LIMITS.maxBytes);
}

/** 0 for a light body. */
function heavyPart(bytes: number): number {
  return bytes <= LIGHT_BYTES ? 0 : bytes;
}

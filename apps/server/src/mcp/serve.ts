import type { Result } from "@modelcontextprotocol/server";
import type { JsonValue } from "@holdfast/core";
import type { z } from "zod";
import type { Caller } from "./caller.ts";

/** One request of whatever protocol generation, for those who answer it. */
export interface ServedRequest {
  readonly caller: Caller;
  /** Answers and state of a further round, as the client sent them; null where it sent none. */
  readonly responses: Readonly<Record<string, JsonValue>> | null;
  readonly requestState: string | null;
}

/** Registers who answers a method. Its params are parsed before; whatever is thrown becomes an error that a caller may see. */
export type Serve<Request extends ServedRequest = ServedRequest> = <Params>(
  method: string,
  params: z.ZodType<Params>,
  answer: (params: Params, request: Request) => Promise<Result>,
) => void;

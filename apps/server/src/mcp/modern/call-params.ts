import { ProtocolError } from "@modelcontextprotocol/server";
import { AppError, type JsonValue } from "@holdfast/core";
import { z } from "zod";
import { clientError } from "../client-error.ts";
import { parseArguments } from "../parse-arguments.ts";

/**
 * Refuses a `tools/call` that the SDK would refuse, in words that name the member: its own would dump the text of a schema library.
 * Throws `ProtocolError`, since no handler of ours has begun.
 */
export function refuseMalformedCall(params: unknown): void {
  try {
    parseArguments(callSchema, unchecked.parse(params ?? {}));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, data } = clientError(error);
    throw new ProtocolError(code, message, data);
  }
}

/** Nothing may fail here but the schema below, whose refusal has words of ours. */
const unchecked = z.custom<JsonValue>(() => true);
const callSchema = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown(), { error: "expected an object of arguments" }).optional(),
  _meta: z.object({ progressToken: z.union([z.string(), z.int()]).optional() }).optional(),
});

import { AppError, inputKeySchema, type InputRequests } from "@holdfast/core";
import { z } from "zod";

/**
 * Questions as they may leave for a client (contract 1.6): an operation wrote them, the store kept them, and neither is believed.
 * Throws `AppError` "internal" when one is not what MCP lets a server ask.
 */
export function deliverableRequests(stored: unknown): InputRequests {
  const parsed = requestsSchema.safeParse(stored);
  if (!parsed.success) throw new AppError("internal", "a question for a client is not one of MCP's", { cause: parsed.error });
  return parsed.data;
}

/** No stricter than what a worker lets an operation ask, or a task would wait for an answer to a question that nobody can see. */
const elicitationSchema = z.union([
  z
    .object({
      mode: z.literal("form").optional(),
      message: z.string(),
      requestedSchema: z.object({ type: z.literal("object") }).catchall(z.json()),
    })
    .catchall(z.json()),
  z.object({ mode: z.literal("url"), message: z.string(), url: z.url() }).catchall(z.json()),
]);
const messageSchema = z.object({ role: z.enum(["user", "assistant"]), content: z.json() }).catchall(z.json());
const samplingSchema = z.object({ messages: z.array(messageSchema), maxTokens: z.number().int().positive() }).catchall(z.json());

const requestSchema = z.discriminatedUnion("method", [
  z.strictObject({ method: z.literal("elicitation/create"), params: elicitationSchema }),
  z.strictObject({ method: z.literal("sampling/createMessage"), params: samplingSchema }),
  z.strictObject({ method: z.literal("roots/list"), params: z.record(z.string(), z.json()) }),
]);
const requestsSchema = z.record(inputKeySchema, requestSchema).refine((requests) => Object.keys(requests).length > 0, "no question");

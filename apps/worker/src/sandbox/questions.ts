import type { InputRequest, InputRequests, TaskInput } from "@holdfast/core";
import { z } from "zod";

/**
 * What may be asked of a client, in the shape of MCP. Beyond what makes a question answerable it is left to clients, who know more of
 * its parameters than we do.
 */
const paramsSchemas = {
  "elicitation/create": z.union([
    z.looseObject({
      mode: z.literal("form").optional(),
      message: z.string(),
      requestedSchema: z.looseObject({ type: z.literal("object") }),
    }),
    z.looseObject({ mode: z.literal("url"), message: z.string(), url: z.url() }),
  ]),
  "sampling/createMessage": z.looseObject({
    messages: z.array(z.looseObject({ role: z.enum(["user", "assistant"]), content: z.unknown() })).min(1),
    maxTokens: z.number().int().positive(),
  }),
  "roots/list": z.looseObject({}),
} as const satisfies Record<InputRequest["method"], z.ZodType>;

/** What is wrong with a question, or null. */
export function faultOfQuestion(question: InputRequest, asks: readonly InputRequest["method"][]): string | null {
  const { method, params } = question;
  if (!asks.includes(method)) return `asks "${method}", which the manifest of the operation does not list`;
  const parsed = paramsSchemas[method].safeParse(params);
  return parsed.success ? null : `is no "${method}": ${z.prettifyError(parsed.error).slice(0, 500)}`;
}

/** Keys of questions that no attempt of the task has asked. */
export function newKeys(requests: InputRequests, asked: readonly Pick<TaskInput, "key">[]): readonly string[] {
  const known = new Set(asked.map(({ key }) => key));
  return Object.keys(requests).filter((key) => !known.has(key));
}

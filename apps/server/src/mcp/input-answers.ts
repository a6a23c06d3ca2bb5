import type { InputAnswer, InputMethod, JsonObject } from "@holdfast/core";
import { z } from "zod";

/**
 * What a client sent as `inputResponses`, each told by its shape: a bare result has no method beside it. Anything else is left out, as
 * if it had not been sent (contract 9.2).
 */
export function readAnswers(responses: Readonly<Record<string, unknown>>): readonly InputAnswer[] {
  const answers: InputAnswer[] = [];
  for (const [key, value] of Object.entries(responses)) {
    const answer = answerSchema.safeParse(value);
    if (!answer.success) continue;
    const method = METHODS.find((name) => RESULT_OF_METHOD[name].safeParse(answer.data).success);
    if (method !== undefined) answers.push({ key, method, answer: answer.data });
  }
  return answers;
}

/** The members that no other method's result has. */
const RESULT_OF_METHOD: Readonly<Record<InputMethod, z.ZodType>> = {
  "elicitation/create": z.looseObject({
    action: z.enum(["accept", "decline", "cancel"]),
    content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
  }),
  "sampling/createMessage": z.looseObject({ role: z.enum(["user", "assistant"]), content: z.json(), model: z.string() }),
  "roots/list": z.looseObject({ roots: z.array(z.looseObject({ uri: z.string() })) }),
};
const METHODS = ["elicitation/create", "sampling/createMessage", "roots/list"] as const satisfies readonly InputMethod[];

const answerSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());

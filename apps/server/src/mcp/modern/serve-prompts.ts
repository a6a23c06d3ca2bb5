import { z } from "zod";
import { complete } from "../completions.ts";
import type { PromptService } from "../prompt-service.ts";
import type { ResourceService } from "../resource-service.ts";
import { listParamsSchema } from "./list-params.ts";
import { inputRequiredResult } from "./serve-tools.ts";
import type { Serve } from "../serve.ts";

export function servePrompts(serve: Serve, service: PromptService): void {
  const prompts = service.prompts.map(({ name, title, description, arguments: declared }) => ({
    name,
    title,
    description,
    arguments: declared.map((argument) => ({ name: argument.name, description: argument.description, required: argument.required })),
  }));
  serve("prompts/list", listParamsSchema, async () => ({ prompts }));
  serve("prompts/get", getParamsSchema, async ({ name, arguments: given }, { caller, responses, requestState }) => {
    const answer = service.get(caller, { name, arguments: given, responses: responses ?? {}, requestState });
    if (answer.kind === "inputRequired") return inputRequiredResult(answer);
    return { description: answer.description, messages: answer.messages };
  });
}

export function serveCompletions(serve: Serve, prompts: PromptService, resources: ResourceService): void {
  serve("completion/complete", completeParamsSchema, async ({ ref, argument, context }) => ({
    completion: complete(prompts, resources, {
      of: ref.type === "ref/prompt" ? { prompt: ref.name } : { uriTemplate: ref.uri },
      argument,
      others: context?.arguments ?? {},
    }),
  }));
}

const textsSchema = z.record(z.string(), z.string());
const getParamsSchema = z.object({ name: z.string(), arguments: textsSchema.default({}) });
const completeParamsSchema = z.object({
  ref: z.discriminatedUnion("type", [
    z.object({ type: z.literal("ref/prompt"), name: z.string() }),
    z.object({ type: z.literal("ref/resource"), uri: z.string() }),
  ]),
  argument: z.object({ name: z.string(), value: z.string() }),
  context: z.object({ arguments: textsSchema.optional() }).optional(),
});

import { variablesOf, type Complete } from "@holdfast/core";
import { invalidArguments } from "./parse-arguments.ts";
import type { PromptService } from "./prompt-service.ts";
import type { ResourceService } from "./resource-service.ts";

export interface CompletionRequest {
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string };
  readonly argument: { readonly name: string; readonly value: string };
  /** What has been chosen already for other arguments. */
  readonly others: Readonly<Record<string, string>>;
}

export interface Completion {
  readonly values: readonly string[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** As many as MCP allows. */
const MAX_VALUES = 100;

/** Throws `AppError` for a prompt, a template or an argument that does not exist; an argument that nobody completes has no values. */
export function complete(prompts: PromptService, resources: ResourceService, request: CompletionRequest): Completion {
  const { name, value } = request.argument;
  const all = completerOf(prompts, resources, request.of, name)?.(value, request.others) ?? [];
  return { values: all.slice(0, MAX_VALUES), total: all.length, hasMore: all.length > MAX_VALUES };
}

function completerOf(prompts: PromptService, resources: ResourceService, of: CompletionRequest["of"], name: string): Complete | undefined {
  if ("prompt" in of) {
    const argument = prompts.find(of.prompt).arguments.find((candidate) => candidate.name === name);
    if (argument === undefined) throw unknown(name);
    return argument.complete;
  }
  const template = resources.findTemplate(of.uriTemplate);
  if (!variablesOf(template.uriTemplate).includes(name)) throw unknown(name);
  return template.complete?.[name];
}

function unknown(name: string): Error {
  return invalidArguments([{ path: "argument.name", message: `there is no argument "${name}"` }]);
}

import {
  AppError,
  type InputRequests,
  type JsonValue,
  type Pack,
  type Prompt,
  type PromptArguments,
  type PromptMessage,
  type Seals,
} from "@holdfast/core";
import { askWhatIsMissing } from "./ask-rounds.ts";
import type { Caller } from "./caller.ts";
import { readAnswers } from "./input-answers.ts";
import { invalidArguments } from "./parse-arguments.ts";
import { createRequestStates, ROUND_MS, type RequestSubject } from "./request-state.ts";

export interface PromptRequest {
  readonly name: string;
  readonly arguments: PromptArguments;
  readonly responses: Readonly<Record<string, JsonValue>>;
  readonly requestState: string | null;
}

export type PromptAnswer =
  | { readonly kind: "messages"; readonly description: string; readonly messages: readonly PromptMessage[] }
  | { readonly kind: "inputRequired"; readonly requests: InputRequests; readonly requestState: string };

/** The prompts of all packs, answered by the node itself. Methods throw `AppError` for what a caller can do something about. */
export interface PromptService {
  readonly prompts: readonly Prompt[];
  find(name: string): Prompt;
  get(caller: Caller, request: PromptRequest): PromptAnswer;
}

/** Throws when two packs share the name of a prompt. */
export function createPromptService(
  packs: readonly Pack[],
  { seals, now }: { readonly seals: Seals; readonly now: () => number },
): PromptService {
  const states = createRequestStates({ seals, now });
  const byName = new Map<string, Prompt>();
  for (const prompt of packs.flatMap((pack) => pack.prompts)) {
    if (byName.has(prompt.name)) throw new Error(`two packs define the prompt "${prompt.name}"`);
    byName.set(prompt.name, prompt);
  }
  const find = (name: string): Prompt => {
    const prompt = byName.get(name);
    if (prompt === undefined) throw invalidArguments([{ path: "name", message: "no prompt of that name" }]);
    return prompt;
  };
  return {
    prompts: [...byName.values()],
    find,
    get: (caller, { name, arguments: given, responses, requestState }) => {
      const prompt = find(name);
      refuseUnfit(prompt, given);
      const subject: RequestSubject = { principal: caller.principal, method: "prompts/get", name, arguments: given };
      const state = requestState === null ? null : states.open(subject, requestState);
      if (state?.kind === "parked") throw new AppError("request_state_invalid", "a prompt has no task");
      const { answers, requests } = askWhatIsMissing({
        ask: (round) => prompt.askFirst?.(given, round) ?? null,
        known: state?.answers ?? [],
        given: readAnswers(responses),
        capabilities: caller.capabilities,
      });
      if (requests !== null) {
        const next = states.close(subject, { kind: "asking", answers }, new Date(now() + ROUND_MS));
        return { kind: "inputRequired", requests, requestState: next };
      }
      const messages = prompt.messages(given, Object.fromEntries(answers.map(({ key, answer }) => [key, answer])));
      return { kind: "messages", description: prompt.description, messages };
    },
  };
}

function refuseUnfit(prompt: Prompt, given: PromptArguments): void {
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(given, name));
  const unknown = Object.keys(given).filter((name) => !prompt.arguments.some((argument) => argument.name === name));
  const issues = [
    ...missing.map(({ name }) => ({ path: `arguments.${name}`, message: "Required" })),
    ...unknown.map((name) => ({ path: `arguments.${name}`, message: "Unknown argument" })),
  ];
  if (issues.length > 0) throw invalidArguments(issues);
}

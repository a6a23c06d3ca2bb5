import type { Result } from "@modelcontextprotocol/server";
import type { JsonObject } from "@holdfast/core";
import { z } from "zod";
import { servePrompts, serveCompletions } from "../modern/serve-prompts.ts";
import { serveResources } from "../modern/serve-resources.ts";
import { parseArguments } from "../parse-arguments.ts";
import type { Serve } from "../serve.ts";
import type { LegacyRequest } from "./legacy-request.ts";
import { serveSessionMethods, type SessionMethodsOptions } from "./serve-session.ts";
import { serveLegacyTasks, type LegacyTasksOptions } from "./serve-tasks.ts";
import { serveLegacyTools, type LegacyToolsOptions } from "./serve-tools.ts";

/** Answers the requests of one method. Rejects with `AppError`, `ProtocolError`, or `Released` when nobody is to answer here. */
export type AnswerRequest = (params: JsonObject, request: LegacyRequest) => Promise<Result>;

/** The methods that sessions have, made once: what they need of a session comes with each request. */
export interface LegacyMethods {
  get(method: string): AnswerRequest | undefined;
  /** Whether the answer may depend on a task, or on what the client says. */
  mayWait(method: string, params: JsonObject): boolean;
  /** Whether a request of the method that may wait is remembered before it is answered. */
  isRecorded(method: string): boolean;
}

export type LegacyMethodsOptions = LegacyToolsOptions & LegacyTasksOptions & SessionMethodsOptions;

export function createLegacyMethods(options: LegacyMethodsOptions): LegacyMethods {
  const { registry, artifacts, resources, prompts } = options;
  const answers = new Map<string, AnswerRequest>();
  const serve: Serve<LegacyRequest> = (method, schema, answer) => {
    answers.set(method, async (params, request) => await answer(parseArguments(schema, params), request));
  };
  serveSessionMethods(serve, options);
  serveLegacyTools(serve, options);
  serveLegacyTasks(serve, options);
  serveResources(serve, artifacts, resources);
  if (prompts.prompts.length > 0) servePrompts(serve, prompts);
  if (prompts.prompts.length > 0 || resources.templates.length > 0) serveCompletions(serve, prompts, resources);
  return {
    get: (method) => answers.get(method),
    mayWait: (method, params) =>
      method === "prompts/get" || (method === "tools/call" && registry.has(nameSchema.safeParse(params).data?.name ?? "")),
    isRecorded: (method) => method === "tools/call",
  };
}

const nameSchema = z.object({ name: z.string() });

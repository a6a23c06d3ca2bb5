import type { ArtifactService } from "../artifact-service.ts";
import type { Exchange } from "../exchange.ts";
import type { PromptService } from "../prompt-service.ts";
import type { ResourceService } from "../resource-service.ts";
import { ExactServer } from "./exact-server.ts";
import { serveCompletions, servePrompts } from "./serve-prompts.ts";
import { serveResources } from "./serve-resources.ts";
import { serveTasks } from "./serve-tasks.ts";
import { serveTools, type ServeToolsOptions } from "./serve-tools.ts";
import { serveOn, TASKS_EXTENSION } from "./serving.ts";

export interface ModernServerOptions extends ServeToolsOptions {
  readonly version: string;
  readonly artifacts: ArtifactService;
  readonly prompts: PromptService;
  readonly resources: ResourceService;
}

/** The request as it came: its headers, and the JSON of its body. */
export interface WireRequest {
  readonly headers: Headers;
  readonly body: unknown;
}

const INSTRUCTIONS =
  "Operations run in a workspace, `current` unless workspaceId names another. Long operations answer with a task when the client declares the tasks extension; large results are linked as artifacts, readable in byte ranges.";

/** Lists change with a release only; an artifact never changes, but the right to read it may be withdrawn. */
const CACHE_HINTS = {
  "tools/list": { ttlMs: 60_000, cacheScope: "private" },
  "prompts/list": { ttlMs: 60_000, cacheScope: "private" },
  "resources/list": { ttlMs: 60_000, cacheScope: "private" },
  "resources/templates/list": { ttlMs: 60_000, cacheScope: "private" },
  "resources/read": { ttlMs: 60_000, cacheScope: "private" },
} as const;

/** Serves one request of revision 2026-07-28: wire shapes around the services, which know nothing of them. */
export function createModernServer(options: ModernServerOptions, exchange: Exchange, { headers, body }: WireRequest): ExactServer {
  const { version, artifacts, prompts, resources } = options;
  const hasPrompts = prompts.prompts.length > 0;
  const hasCompletions = hasPrompts || resources.templates.length > 0;
  const server = new ExactServer(
    { name: "holdfast", title: "Holdfast", version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true },
        ...(hasPrompts ? { prompts: { listChanged: true } } : {}),
        ...(hasCompletions ? { completions: {} } : {}),
        extensions: { [TASKS_EXTENSION]: {} },
      },
      instructions: INSTRUCTIONS,
      cacheHints: CACHE_HINTS,
    },
  );
  const serve = serveOn(server, exchange, body);
  serveTools(serve, options, headers);
  serveTasks(serve, options);
  serveResources(serve, artifacts, resources);
  if (hasPrompts) servePrompts(serve, prompts);
  if (hasCompletions) serveCompletions(serve, prompts, resources);
  return server;
}

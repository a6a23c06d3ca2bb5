import type { Implementation } from "@modelcontextprotocol/server";
import type { JsonObject, JsonValue } from "@holdfast/core";
import type { SessionStore } from "@holdfast/db";
import { z } from "zod";
import type { ArtifactService } from "../artifact-service.ts";
import type { PromptService } from "../prompt-service.ts";
import type { ResourceService } from "../resource-service.ts";
import type { Serve } from "../serve.ts";
import { invalidArguments, parseArguments } from "../parse-arguments.ts";
import type { LegacyRequest } from "./legacy-request.ts";
import { FEATURES, negotiateRevision, type LegacyRevision } from "./revisions.ts";

/** What a client says of itself when it opens a session. */
export interface Handshake {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
  readonly clientName: JsonValue;
}

/** Kept for every session, so no more than clients need. */
const MAX_CAPABILITIES = 16 * 1024;

const handshakeSchema = z.object({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.json()),
  clientInfo: z.object({ name: z.string(), version: z.string() }),
});

/** Throws `AppError` "invalid_arguments". */
export function readHandshake(params: JsonObject): Handshake {
  const { protocolVersion, capabilities, clientInfo } = parseArguments(handshakeSchema, params);
  if (JSON.stringify(capabilities).length > MAX_CAPABILITIES)
    throw invalidArguments([{ path: "capabilities", message: `longer than ${MAX_CAPABILITIES} characters` }]);
  const clientName = [clientInfo.name.slice(0, 256), clientInfo.version.slice(0, 64)];
  return { revision: negotiateRevision(protocolVersion), capabilities, clientName };
}

export interface ServerDescription {
  readonly serverInfo: Implementation;
  readonly instructions: string;
  readonly hasPrompts: boolean;
  readonly hasCompletions: boolean;
}

/** The answer to `initialize`. */
export function describeServer(description: ServerDescription, revision: LegacyRevision): Record<string, unknown> {
  const { serverInfo, instructions, hasPrompts, hasCompletions } = description;
  return {
    protocolVersion: revision,
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
      ...(hasPrompts ? { prompts: { listChanged: true } } : {}),
      ...(hasCompletions ? { completions: {} } : {}),
      ...(FEATURES[revision].tasks ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}),
    },
    serverInfo,
    instructions,
  };
}

export interface SessionMethodsOptions {
  readonly artifacts: ArtifactService;
  readonly resources: ResourceService;
  readonly prompts: PromptService;
  readonly store: Pick<SessionStore, "setLogLevel">;
}

/**
 * What sessions have and single requests do not. Resources are named by their content or fixed by a release, so that a subscriber is
 * rightly never told of a change.
 */
export function serveSessionMethods(serve: Serve<LegacyRequest>, { artifacts, resources, store }: SessionMethodsOptions): void {
  serve("ping", z.object({}), async () => ({}));
  serve("logging/setLevel", z.object({ level: z.enum(LOG_LEVELS) }), async ({ level }, { session }) => {
    await store.setLogLevel(session.id, level);
    return {};
  });
  serve("resources/subscribe", uriSchema, async ({ uri }, { caller }) => {
    if (uri.startsWith("holdfast:")) await artifacts.read(caller.principal, uri);
    else resources.read(uri);
    return {};
  });
  serve("resources/unsubscribe", uriSchema, async () => ({}));
}

/** The quietest last. */
const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
const uriSchema = z.object({ uri: z.string() });

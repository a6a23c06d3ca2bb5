import type { ListName, OperationRegistry, Pack } from "@holdfast/core";
import type { ModernServerOptions } from "./modern/create-server.ts";
import { TASKS_CAPABILITY } from "./modern/serve-tasks.ts";
import { createNodeTools } from "./node-tools.ts";
import { createParamHeaderCheck } from "./param-headers.ts";
import { createPromptService } from "./prompt-service.ts";
import { createResourceService } from "./resource-service.ts";
import { describeTools } from "./tool-catalog.ts";
import { createToolService, type ToolServiceOptions } from "./tool-service.ts";

export interface ServicesOptions
  extends Omit<ToolServiceOptions, "registry" | "tasksCapability">, Pick<ModernServerOptions, "version" | "artifacts" | "handles"> {
  readonly packs: readonly Pack[];
  readonly registry: OperationRegistry;
  /** Tells those who listen that a list has changed. */
  readonly announce: (list: ListName) => void;
}

/** All that a node serves of its packs, checked once. Throws for packs that cannot be served together. */
export function createServices(options: ServicesOptions): ModernServerOptions {
  const { packs, registry, handles, announce, version, artifacts } = options;
  const service = createToolService({ ...options, tasksCapability: TASKS_CAPABILITY });
  const nodeTools = createNodeTools({
    packs,
    service,
    openHandle: ({ principal }, handle) => handles.open({ generation: "m", principal }, handle),
    announce,
  });
  const tools = [...describeTools(registry), ...Array.from(nodeTools.values(), ({ description }) => description)];
  return {
    version,
    artifacts,
    handles,
    service,
    nodeTools,
    tools,
    checkParamHeaders: createParamHeaderCheck(tools),
    prompts: createPromptService(packs, options),
    resources: createResourceService(packs),
  };
}

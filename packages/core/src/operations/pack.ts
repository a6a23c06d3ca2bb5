import type { ForegroundTool } from "./foreground-tool.ts";
import type { HandledOperation, Operation } from "./operation.ts";
import type { Prompt } from "./prompt.ts";
import { variablesOf, type FixedResource, type ResourceTemplate } from "./resource.ts";

/** The cheap half of an operation pack: what its `manifest` entry exports as `pack`. Nodes serve all of it but the operations themselves. */
export interface Pack {
  /** Prefix of every operation's name: `hoi4` for `hoi4.event_inspect`. */
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly foregroundTools: readonly ForegroundTool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly FixedResource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
}

const NAME = /^[a-z][a-z0-9]*$/u;
/** As the database and the job queue admit it: pool and root together name a queue. */
const POOL = /^[a-z][a-z0-9_-]{0,47}$/u;
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,64}$/u;

/** Throws when two things of a kind share a name, or a name is not one that MCP clients accept. */
export function definePack(definition: Pick<Pack, "name" | "operations"> & Partial<Pack>): Pack {
  const { name, operations, foregroundTools = [], prompts = [], resources = [], resourceTemplates = [] } = definition;
  if (!NAME.test(name)) throw new Error(`pack name "${name}" is not lower-case letters and digits`);
  for (const { name: operation, pool } of operations)
    if (!POOL.test(pool)) throw new Error(`operation "${operation}" names the pool "${pool}", which cannot be one`);
  const tools = [...operations, ...foregroundTools].map((tool) => tool.name);
  for (const tool of tools) if (!TOOL_NAME.test(tool)) throw new Error(`operation name "${tool}" is not a valid MCP tool name`);
  for (const uriTemplate of resourceTemplates.map((template) => template.uriTemplate))
    if (variablesOf(uriTemplate).length === 0) throw new Error(`the resource template "${uriTemplate}" has no variable`);
  for (const names of [tools, prompts.map((prompt) => prompt.name), resources.map(({ uri }) => uri)]) refuseTwice(name, names);
  return Object.freeze({
    name,
    operations: Object.freeze([...operations]),
    foregroundTools: Object.freeze([...foregroundTools]),
    prompts: Object.freeze([...prompts]),
    resources: Object.freeze([...resources]),
    resourceTemplates: Object.freeze([...resourceTemplates]),
  });
}

function refuseTwice(pack: string, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new Error(`pack "${pack}" defines "${name}" twice`);
    seen.add(name);
  }
}

/** All operations of the configured packs by name: the fixed registry that no record can extend (contract 14.1). */
export type OperationRegistry = ReadonlyMap<string, Operation>;

export function registerPacks(packs: readonly Pack[]): OperationRegistry {
  const registry = new Map<string, Operation>();
  for (const operation of packs.flatMap((pack) => pack.operations)) {
    if (registry.has(operation.name)) throw new Error(`two packs define the operation "${operation.name}"`);
    registry.set(operation.name, operation);
  }
  return registry;
}

/** The working half: what a pack's `handlers` entry exports as `handlers`. Throws unless it covers the manifest exactly. */
export function registerHandlers(pack: Pack, handlers: readonly HandledOperation[]): ReadonlyMap<string, HandledOperation> {
  const byName = new Map(handlers.map((handled) => [handled.operation.name, handled]));
  for (const { name } of pack.operations) if (!byName.has(name)) throw new Error(`pack "${pack.name}" has no handler for "${name}"`);
  for (const name of byName.keys())
    if (!pack.operations.some((operation) => operation.name === name))
      throw new Error(`pack "${pack.name}" handles "${name}", which its manifest does not list`);
  return byName;
}

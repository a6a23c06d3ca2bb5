import type { HandledOperation, Operation } from "./operation.ts";

/** The cheap half of an operation pack: what its `manifest` entry exports as `pack`. */
export interface Pack {
  /** Prefix of every operation's name: `hoi4` for `hoi4.event_inspect`. */
  readonly name: string;
  readonly operations: readonly Operation[];
}

const NAME = /^[a-z][a-z0-9]*$/u;
/** As the database and the job queue admit it: pool and root together name a queue. */
const POOL = /^[a-z][a-z0-9_-]{0,47}$/u;
const OPERATION_NAME = /^[A-Za-z0-9_./-]{1,64}$/u;

/** Throws when two operations share a name, or a name is not one that MCP clients accept. */
export function definePack(pack: { name: string; operations: readonly Operation[] }): Pack {
  if (!NAME.test(pack.name)) throw new Error(`pack name "${pack.name}" is not lower-case letters and digits`);
  const names = new Set<string>();
  for (const { name, pool } of pack.operations) {
    if (!POOL.test(pool)) throw new Error(`operation "${name}" names the pool "${pool}", which cannot be one`);
    if (!OPERATION_NAME.test(name)) throw new Error(`operation name "${name}" is not a valid MCP tool name`);
    if (names.has(name)) throw new Error(`pack "${pack.name}" defines "${name}" twice`);
    names.add(name);
  }
  return Object.freeze({ name: pack.name, operations: Object.freeze([...pack.operations]) });
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

import type { HandledOperation } from "./operation.ts";
import { definePack, registerHandlers, type Pack } from "./pack.ts";

/** The platform's dynamic import, handed in by the process that loads. */
export type ImportModule = (specifier: string) => Promise<unknown>;

/**
 * A pack is named in configuration: a package (`@holdfast/hoi4`), whose `exports` offer `./manifest` and `./handlers`, or
 * the absolute path of a folder with `manifest.ts` and `handlers.ts`. Throws when it is not one.
 */
export async function loadManifest(specifier: string, importModule: ImportModule): Promise<Pack> {
  const module = await importModule(packModule(specifier, "manifest"));
  if (!isRecord(module) || !isPack(module["pack"])) throw new Error(`"${specifier}" exports no operation pack as "pack" from its manifest`);
  return definePack(module["pack"]);
}

/** Manifest and handlers of a pack, which must agree. Only the child process of a worker calls this. */
export async function loadHandlers(specifier: string, importModule: ImportModule): Promise<ReadonlyMap<string, HandledOperation>> {
  const pack = await loadManifest(specifier, importModule);
  const module = await importModule(packModule(specifier, "handlers"));
  if (!isRecord(module) || !Array.isArray(module["handlers"]))
    throw new Error(`"${specifier}" exports no list as "handlers" from its handlers`);
  return registerHandlers(pack, module["handlers"] as readonly HandledOperation[]);
}

function packModule(specifier: string, half: "manifest" | "handlers"): string {
  return specifier.startsWith("/") ? `file://${encodeURI(specifier)}/${half}.ts` : `${specifier}/${half}`;
}

function isPack(value: unknown): value is Pick<Pack, "name" | "operations"> & Partial<Pack> {
  return isRecord(value) && typeof value["name"] === "string" && Array.isArray(value["operations"]);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

import { loadManifest, registerPacks, type OperationRegistry } from "@holdfast/core";
import { ConfigError } from "./variables.ts";

/** The operations of the configured packs. Throws `ConfigError` for a pack that does not load: it is a mistake of whoever named it. */
export async function loadOperations(packs: readonly string[]): Promise<OperationRegistry> {
  try {
    return registerPacks(await Promise.all(packs.map((pack) => loadManifest(pack, (specifier): Promise<unknown> => import(specifier)))));
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    throw new ConfigError(`HOLDFAST_PACKS is not usable: ${reason}`, { cause: error });
  }
}

import { loadManifest, registerPacks, type OperationRegistry, type Pack } from "@holdfast/core";
import { ConfigError } from "./variables.ts";

/** The operations of the configured packs. Throws `ConfigError` for a pack that does not load: it is a mistake of whoever named it. */
export async function loadOperations(specifiers: readonly string[]): Promise<OperationRegistry> {
  return (await loadPacks(specifiers)).registry;
}

/** The same with everything else that the packs offer. */
export async function loadPacks(
  specifiers: readonly string[],
): Promise<{ readonly packs: readonly Pack[]; readonly registry: OperationRegistry }> {
  try {
    const packs = await Promise.all(specifiers.map((pack) => loadManifest(pack, (specifier): Promise<unknown> => import(specifier))));
    return { packs, registry: registerPacks(packs) };
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    throw new ConfigError(`HOLDFAST_PACKS is not usable: ${reason}`, { cause: error });
  }
}

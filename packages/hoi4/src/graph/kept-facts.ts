import { createFileCache, type CachePass, type FileCache } from "../mod/file-cache.ts";
import type { LoadedFile } from "../mod/read-mod-files.ts";
import type { FileFacts } from "./event-facts.ts";
import { graphSizeOf, type GraphSize } from "./graph-size.ts";
import { readFileFacts, type ReadFile } from "./read-file-facts.ts";
import { helperNamesIn } from "./read-helpers.ts";
import type { HelperNames } from "./script-context.ts";

/** What one script says, with the room that it takes in a graph. */
export interface KeptFacts extends ReadFile {
  readonly size: GraphSize;
  /** The names that reading it has asked the mod's scripted effects for, in lower case, and what the answers were. */
  readonly asked: ReadonlyMap<string, string | undefined>;
}

export type FactsCache = FileCache<KeptFacts | readonly string[]>;

/** Facts of scripts for every operation of this process. A third of what a child may keep between two operations. */
export const sharedFacts: FactsCache = createFactsCache();

export function createFactsCache(maxBytes: number = 96 * 1024 * 1024): FactsCache {
  return createFileCache({ maxBytes });
}

export type FactsPass = CachePass<KeptFacts | readonly string[]>;

/**
 * Reads a script unless the same bytes were read before at the same path. What a script says also depends on which words are scripted
 * effects, so facts remember what they asked: a new effect makes those files be read again that have its name, and no others.
 */
export function readKept(pass: FactsPass, loaded: LoadedFile, helpers: HelperNames): KeptFacts {
  const key = `facts ${loaded.sha256} ${loaded.file.displayPath}`;
  const kept = pass.get(key);
  if (kept !== undefined && "asked" in kept && stillHolds(kept, helpers)) return kept;
  const asked = new Map<string, string | undefined>();
  const read = readFileFacts(loaded, {
    get: (name) => {
      const answer = helpers.get(name);
      asked.set(name, answer);
      return answer;
    },
  });
  const made = { ...read, size: graphSizeOf(read.facts), asked };
  pass.put(key, made, memoryOf(loaded, made));
  return made;
}

function stillHolds({ asked }: KeptFacts, helpers: HelperNames): boolean {
  for (const [name, answer] of asked) if (helpers.get(name) !== answer) return false;
  return true;
}

/** The names of scripted effects that a file defines. */
export function keptHelperNames(pass: FactsPass, { bytes, sha256 }: LoadedFile): readonly string[] {
  const key = `helper names ${sha256}`;
  const kept = pass.get(key);
  if (kept !== undefined && !("asked" in kept)) return kept;
  const names = helperNamesIn(bytes);
  pass.put(
    key,
    names,
    names.reduce((sum, name) => sum + name.length + STRING_BYTES, STRING_BYTES),
  );
  return names;
}

const STRING_BYTES = 40;

/** From above, and about twice what well-formed script really takes: names, conditions and places, but no tree and no bytes. */
function memoryOf({ bytes }: LoadedFile, { size, asked, facts }: Omit<KeptFacts, "isWhole">): number {
  return (
    2_000 +
    bytes.length / 2 +
    conditionMemory(facts, bytes.length) +
    400 * size.parts +
    size.characters +
    1_000 * facts.diagnostics.length +
    60 * asked.size
  );
}

/** Lists of conditions share their outer parts: all of them together are never more than so many times the script that they were read from. */
function conditionMemory({ events, helpers, entries }: FileFacts, bytes: number): number {
  const calls = [...events, ...events.flatMap(({ options }) => options), ...helpers, ...entries].flatMap((owner) => owner.calls);
  return Math.min(
    calls.reduce((sum, { conditions }) => sum + 2 * (conditions?.size ?? 0), 0),
    16 * bytes,
  );
}

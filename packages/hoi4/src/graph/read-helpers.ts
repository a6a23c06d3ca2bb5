import { blockOf } from "../clausewitz/index.ts";
import { rootFrame } from "./effect-frame.ts";
import type { HelperFact } from "./event-facts.ts";
import { readEffects } from "./read-effects.ts";
import { hashContent } from "./render-expression.ts";
import { parseSource, type ScriptContext } from "./script-context.ts";

/** The scripted effects of a file in `common/scripted_effects/`. */
export function readHelpers(context: ScriptContext): HelperFact[] {
  return context.file.root.entries.flatMap((entry) => {
    const block = entry.kind === "pair" ? blockOf(entry.value) : null;
    if (entry.kind !== "pair" || block === null) return [];
    const name = entry.key.text;
    return [
      {
        name,
        at: context.at(entry.key, name),
        contentHash: hashContent(block),
        calls: readEffects(context, block, rootFrame("effect", name)),
      },
    ];
  });
}

/** Their names alone, which every other file has to be read with. */
export function helperNamesIn(bytes: Uint8Array): string[] {
  return parseSource(bytes).root.entries.flatMap((entry) =>
    entry.kind === "pair" && blockOf(entry.value) !== null ? [entry.key.text] : [],
  );
}

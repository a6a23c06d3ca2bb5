import { takeNotes, type GroundTruth } from "./ground-truth.ts";
import { planMod, type GenerateOptions, type ModPlan } from "./plan-mod.ts";
import { createScript } from "./script-text.ts";
import { writeCallers } from "./write-callers.ts";
import { writeEvent, type Texts } from "./write-events.ts";
import { writeSlips } from "./write-slips.ts";

/** A mod that the game would load, with everything that is true of it. */
export interface GeneratedMod {
  /** Texts by path inside the mod. */
  readonly files: Readonly<Record<string, string>>;
  readonly truth: GroundTruth;
}

/** The same options give the same mod. Throws `RangeError` when the defects need more events than there are. */
export function generateMod(options: GenerateOptions): GeneratedMod {
  const plan = planMod(options);
  const notes = takeNotes();
  const texts: Texts = new Map();
  const files: Record<string, string> = { "descriptor.mod": DESCRIPTOR };
  for (const [path, events] of Map.groupBy(plan.events, ({ file }) => file)) {
    const script = createScript(path);
    for (const namespace of new Set(events.map((event) => event.namespace))) script.line(`add_namespace = ${namespace}`);
    for (const event of events) {
      script.line("");
      writeEvent(script, event, { plan, notes, texts });
    }
    files[path] = script.text();
  }
  for (const script of [...writeCallers(plan, notes), ...writeSlips(plan, notes)]) files[script.path] = script.text();
  Object.assign(
    files,
    writeTexts(texts),
    writeUnmarked(plan, (path) => notes.finding("MISSING_BOM", path, 1)),
  );
  for (const ids of plan.cycles) notes.cycle(ids);
  return { files, truth: notes.truth() };
}

const DESCRIPTOR = 'name="Generated"\nversion="1.0"\nsupported_version="1.16.*"\ntags={\n\t"Events"\n}\n';

const BOM = "\uFEFF";
const TEXTS_PER_FILE = 5_000;

function writeTexts(texts: Texts): Record<string, string> {
  const lines = [...texts].map(([key, text]) => ` ${key}:0 "${text}"`);
  const files: Record<string, string> = {};
  for (let from = 0; from < lines.length; from += TEXTS_PER_FILE)
    files[`localisation/english/gen_${from / TEXTS_PER_FILE}_l_english.yml`] =
      `${BOM}l_english:\n${lines.slice(from, from + TEXTS_PER_FILE).join("\n")}\n`;
  return files;
}

/** Localisation that the game does not read, because it lacks its mark. */
function writeUnmarked({ defects }: ModPlan, note: (path: string) => void): Record<string, string> {
  const files: Record<string, string> = {};
  for (let index = 0; index < defects; index += 1) {
    const path = `localisation/english/gen_unmarked_${index}_l_english.yml`;
    files[path] = `l_english:\n gen_unmarked_${index}:0 "Nobody reads this"\n`;
    note(path);
  }
  return files;
}

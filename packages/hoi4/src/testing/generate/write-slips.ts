import type { TruthNotes } from "./ground-truth.ts";
import type { ModPlan } from "./plan-mod.ts";
import { createScript, type ScriptText } from "./script-text.ts";

/** Files that hold one slip each, which is one of the file as a whole. */
export function writeSlips({ events, defects }: ModPlan, notes: TruthNotes): ScriptText[] {
  const repeats = createScript("events/zz_repeats.txt");
  for (const { id, defect } of events) if (defect === "duplicate") writeRepeat(repeats, { id, notes });
  const numbers = Array.from({ length: defects }, (_, index) => index + 1);
  return [
    ...(defects === 0 ? [] : [repeats]),
    ...numbers.map((number) => writeUndeclared(`ghost${number}`, notes)),
    ...numbers.map((number) => writeUnclosed(`open${number}`, notes)),
    ...numbers.map((number) => writeOverclosed(`extra${number}`, notes)),
  ];
}

/** The second definition of an id, which the game does not use. */
function writeRepeat(script: ScriptText, { id, notes }: { id: string; notes: TruthNotes }): void {
  const node = `event:${id}#`;
  notes.event();
  notes.duplicate(id);
  notes.finding("EVENT_DUPLICATE_ID", script.path, script.open("country_event ="));
  script.line(`id = ${id}`);
  script.line(`title = ${id}.again`);
  script.line("is_triggered_only = yes");
  script.line(`option = { name = ${id}.again }`);
  script.close();
  const option = `option:${id}#/${id}.again`;
  notes.option();
  notes.edge({ from: node, to: option, when: "at once", conditions: 0 });
  notes.terminal(option);
}

/** No file declares the namespace, which is told once and not for each event. */
function writeUndeclared(namespace: string, notes: TruthNotes): ScriptText {
  const script = createScript(`events/zz_${namespace}.txt`);
  const first = writeHidden(script, { id: `${namespace}.1`, notes });
  script.line(`immediate = { country_event = ${namespace}.2 }`);
  script.close();
  notes.edge({ from: `event:${namespace}.1`, to: `event:${namespace}.2`, when: "at once", conditions: 0 });
  notes.finding("EVENT_NAMESPACE_UNDECLARED", script.path, first);
  writeHidden(script, { id: `${namespace}.2`, notes });
  script.close();
  notes.terminal(`event:${namespace}.2`);
  return script;
}

function writeUnclosed(namespace: string, notes: TruthNotes): ScriptText {
  const script = createScript(`events/zz_${namespace}.txt`);
  script.line(`add_namespace = ${namespace}`);
  notes.finding("MISSING_CLOSE_BRACE", script.path, writeHidden(script, { id: `${namespace}.1`, notes }));
  notes.terminal(`event:${namespace}.1`);
  return script;
}

function writeOverclosed(namespace: string, notes: TruthNotes): ScriptText {
  const script = createScript(`events/zz_${namespace}.txt`);
  script.line(`add_namespace = ${namespace}`);
  writeHidden(script, { id: `${namespace}.1`, notes });
  script.close();
  notes.finding("EXTRA_CLOSE_BRACE", script.path, script.line("}"));
  notes.terminal(`event:${namespace}.1`);
  return script;
}

/** Opens an event that waits to be fired, and answers its line. */
function writeHidden(script: ScriptText, { id, notes }: { id: string; notes: TruthNotes }): number {
  const node = `event:${id}`;
  const line = script.open("country_event =");
  script.line(`id = ${id}`);
  script.line("hidden = yes");
  script.line("is_triggered_only = yes");
  notes.event();
  notes.waiting({ node, path: script.path, line });
  return line;
}

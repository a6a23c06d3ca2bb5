import { type Block, blockOf, type Entry, type Pair, pairs, textOf, valueOf } from "../clausewitz/index.ts";
import type { CallerShape, Containers } from "../mod/scan-folders.ts";
import { rootFrame } from "./effect-frame.ts";
import type { EntryFact } from "./event-facts.ts";
import { eventTypeOf } from "./event-types.ts";
import { holdsNoEffects, readEffects } from "./read-effects.ts";
import { readOnActions } from "./read-on-actions.ts";
import { readSetup } from "./read-setup.ts";
import type { ScriptContext } from "./script-context.ts";

/** What a file outside of `events/` and the scripted effects starts. Places that fire nothing are left out. */
export function readEntries(context: ScriptContext, shape: CallerShape, fileName: string): EntryFact[] {
  const { layout } = shape;
  const { root } = context.file;
  switch (layout) {
    case "on_actions":
      return readOnActions(context);
    case "focus_trees":
      return focusesOf(root).flatMap((focus) => readDefinition(context, shape, focus, {}));
    case "states":
      return [...pairs(root, "state")].flatMap(({ value }) => readState(context, shape, blockOf(value)));
    case "whole_file":
      return readSetup(context, { ...shape, id: fileName.replace(/\.txt$/iu, "") }, root);
    default:
      return definitionsAt(root, layout.depth).flatMap((definition) => readDefinition(context, shape, definition, layout.containers));
  }
}

interface Definition {
  readonly entry: Pair;
  readonly body: Block;
}

function definitionsAt(block: Block, depth: number): Definition[] {
  const inner = block.entries.flatMap((entry) => {
    const body = entry.kind === "pair" ? blockOf(entry.value) : null;
    return entry.kind === "pair" && body !== null ? [{ entry, body }] : [];
  });
  return depth === 0 ? inner : inner.flatMap(({ body }) => definitionsAt(body, depth - 1));
}

/** Focuses stand inside trees and palettes, or on their own when trees share them. */
function focusesOf(root: Block): Definition[] {
  const isFocus = ({ entry }: Definition) => ["focus", "shared_focus", "joint_focus"].some((keyword) => entry.key.is(keyword));
  return definitionsAt(root, 0).flatMap((top) => (isFocus(top) ? [top] : definitionsAt(top.body, 0).filter(isFocus)));
}

function readState(context: ScriptContext, shape: CallerShape, state: Block | null): EntryFact[] {
  if (state === null) return [];
  const id = textOf(valueOf(state, "id")) ?? "unknown state";
  return [...pairs(state, "history")].flatMap(({ value }) => {
    const history = blockOf(value);
    return history === null ? [] : readSetup(context, { ...shape, id }, history);
  });
}

function readDefinition(context: ScriptContext, shape: CallerShape, { entry, body }: Definition, containers: Containers): EntryFact[] {
  const id = (shape.nameKey === undefined ? null : textOf(valueOf(body, shape.nameKey))) ?? entry.key.text;
  // A mission is a decision that runs out.
  const isMission = shape.kind === "decision" && valueOf(body, "days_mission_timeout") !== null;
  const base = isMission ? ({ kind: "mission", noun: "mission", id } as const) : { kind: shape.kind, noun: shape.noun, id };
  return phasesOf(context, id, { body, outer: null, containers }).map((phase) => ({ ...base, ...phase }));
}

type Phase = Pick<EntryFact, "phase" | "at" | "calls">;

/** Each block of a definition is run on an occasion of its own, so each makes its own entry. */
function phasesOf(
  context: ScriptContext,
  id: string,
  { body, outer, containers }: { body: Block; outer: string | null; containers: Containers },
): Phase[] {
  const direct = { ...body, entries: body.entries.filter(firesDirectly) };
  const phases = body.entries.flatMap((entry): Phase[] => {
    const block = entry.kind === "pair" ? blockOf(entry.value) : null;
    if (entry.kind !== "pair" || block === null || firesDirectly(entry)) return [];
    const key = entry.key.text.toLowerCase();
    if (holdsNoEffects(key)) return [];
    const phase = outer === null ? entry.key.text : `${outer}.${entry.key.text}`;
    const inside = containersIn(containers, key);
    return inside === null
      ? phaseOf(context, id, { block, phase })
      : phasesOf(context, id, { body: block, outer: phase, containers: inside });
  });
  return [...phaseOf(context, id, { block: direct, phase: outer }), ...phases];
}

/** What to look for inside a block; null for a block of effects. */
function containersIn(containers: Containers, key: string): Containers | null {
  return (Object.hasOwn(containers, key) ? containers[key] : containers["*"]) ?? null;
}

function firesDirectly(entry: Entry): boolean {
  return entry.kind === "pair" && eventTypeOf(entry.key.text.toLowerCase()) !== null;
}

function phaseOf(context: ScriptContext, id: string, { block, phase }: { block: Block; phase: string | null }): Phase[] {
  const calls = readEffects(context, block, rootFrame("effect", id));
  const [first] = calls;
  return first === undefined ? [] : [{ phase, at: context.at(block, id), calls }];
}

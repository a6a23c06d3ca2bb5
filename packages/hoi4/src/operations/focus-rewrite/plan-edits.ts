import { type FieldEdit, hasCommentInside, type Pair, pairs } from "../../clausewitz/index.ts";
import { numberOf, placementOf, type Placement, type PlacementKey } from "../../focus/placement.ts";
import type { Focus, FocusFile } from "../../focus/read-focus-file.ts";
import type { Blocker } from "../blocker.ts";
import { inlineText } from "../inline-lists.ts";
import { lineOf, type FoundFocus } from "./find-focuses.ts";

/** The fields that have to change for the focuses to stand as asked; what is as asked already is left alone. */
export function planEdits(file: FocusFile, found: readonly FoundFocus[]): { edits: readonly FieldEdit[]; blockers: readonly Blocker[] } {
  const edits: FieldEdit[] = [];
  const blockers: Blocker[] = [];
  for (const each of found)
    for (const planned of planFocus(file, each)) {
      if ("message" in planned) blockers.push(planned);
      else edits.push(planned);
    }
  return { edits, blockers };
}

function planFocus(file: FocusFile, { change, focus }: FoundFocus): (FieldEdit | Blocker)[] {
  const now = placementOf(focus, file.constants);
  const planned = [
    planField(file, focus, { key: "x", wanted: change.x, now }),
    planField(file, focus, { key: "y", wanted: change.y, now }),
    planField(file, focus, { key: "relative_position_id", wanted: change.relativePositionId, now }),
  ];
  return planned.filter((each) => each !== null);
}

interface WantedField {
  readonly key: PlacementKey;
  /** Null takes the field away; undefined leaves it alone. */
  readonly wanted: number | string | null | undefined;
  readonly now: Placement;
}

function planField(file: FocusFile, focus: Focus, { key, wanted, now }: WantedField): FieldEdit | Blocker | null {
  if (wanted === undefined) return null;
  const all = [...pairs(focus.block, key)];
  const [pair] = all;
  if (all.length > 1) {
    const lines = all.map((each) => lineOf(file, each));
    return repeated(focus, key, lines);
  }
  if (wanted === (key === "relative_position_id" ? now.relativePositionId : now[key])) return null;
  if (pair === undefined) return { kind: "insert", after: neighbourOf(focus, key), key, text: String(wanted) };
  const value = literalOf(pair, key);
  if (value === null) return notLiteral(file, focus, { key, pair });
  if (wanted !== null) return { kind: "replace", pair, value, text: String(wanted) };
  return hasCommentInside(file.script, pair) ? commentInside(file, focus, pair) : { kind: "remove", pair };
}

/** The value of a field where it is one that we understand to the end: no @constant, variable, block or comparison. */
function literalOf({ operator, value }: Pair, key: PlacementKey) {
  if (operator !== "=" || value?.kind !== "scalar") return null;
  const { text } = value;
  const isLiteral = key === "relative_position_id" ? !/^@|[[\]]/u.test(text) : numberOf(text) !== null;
  return isLiteral ? value : null;
}

/** A new field goes behind the one that usually precedes it. */
function neighbourOf({ block, idPair }: Focus, key: PlacementKey): Pair {
  const [x] = pairs(block, "x");
  const [y] = pairs(block, "y");
  switch (key) {
    case "x":
      return idPair;
    case "y":
      return x ?? idPair;
    case "relative_position_id":
      return y ?? x ?? idPair;
  }
}

function repeated({ id: focusId }: Focus, key: PlacementKey, lines: readonly number[]): Blocker {
  const message = `"${focusId}" has ${lines.length} fields ${key}; which one counts is not defined.`;
  return { code: "FOCUS_VALUE_REPEATED", message, details: { focusId, key, lines: lines.slice(0, 20) } };
}

function notLiteral(file: FocusFile, { id: focusId }: Focus, { key, pair }: { key: PlacementKey; pair: Pair }): Blocker {
  const line = lineOf(file, pair);
  const text = pair.value?.kind === "scalar" ? `"${pair.value.text}"` : "a block or a comparison";
  return {
    code: "FOCUS_VALUE_NOT_LITERAL",
    message: inlineText(
      `${key} of "${focusId}" in line ${line} is ${text}, which stands for a value set elsewhere or is none; it is not overwritten.`,
    ),
    details: { focusId, key, line },
  };
}

function commentInside(file: FocusFile, { id: focusId }: Focus, pair: Pair): Blocker {
  const line = lineOf(file, pair);
  return {
    code: "FOCUS_COMMENT_IN_FIELD",
    message: `relative_position_id of "${focusId}" in line ${line} has a comment before its value, which would go with it.`,
    details: { focusId, line },
  };
}

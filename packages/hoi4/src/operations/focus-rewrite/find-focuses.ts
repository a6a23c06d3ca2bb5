import { positionAt, type Range } from "../../clausewitz/index.ts";
import type { Focus, FocusFile, FocusTree } from "../../focus/read-focus-file.ts";
import { syntaxDoubts } from "../../focus/syntax-doubts.ts";
import type { Blocker } from "../blocker.ts";
import { inlineText } from "../inline-lists.ts";
import type { PlacementChange } from "./manifest.ts";

/** A change with the focus that it is about. */
export interface FoundFocus {
  readonly change: PlacementChange;
  readonly focus: Focus;
}

/** The focuses that share one grid. */
export function focusesOf(file: FocusFile, treeId: string | null): readonly Focus[] {
  return treeId === null ? file.shared : (file.trees.find(({ id }) => id === treeId)?.focuses ?? []);
}

/** Finds what is to change, or everything that keeps it from being found for certain. */
export function findFocuses(
  file: FocusFile,
  { treeId, changes }: { treeId: string | null; changes: readonly PlacementChange[] },
): { found: readonly FoundFocus[]; blockers: readonly Blocker[] } {
  const frame = treeId === null ? [] : frameBlockers(file, treeId);
  if (frame.length > 0) return { found: [], blockers: frame };
  const byId = Map.groupBy(focusesOf(file, treeId), ({ id }) => id);
  const found: FoundFocus[] = [];
  const blockers: Blocker[] = [];
  for (const change of changes) {
    const { focusId } = change;
    const [focus, ...twins] = byId.get(focusId) ?? [];
    if (focus === undefined) blockers.push(missingFocus(file, { treeId, focusId }));
    else if (twins.length > 0) {
      const lines = [focus, ...twins].map((each) => lineOf(file, each));
      blockers.push({
        code: "FOCUS_DUPLICATED",
        message: `"${focusId}" is defined ${lines.length} times, in lines ${inlineText(lines.join(", "))}; which one the game shows is not defined.`,
        details: { focusId, lines: lines.slice(0, LINES_LISTED) },
      });
    } else {
      const doubt = doubtBlocker(file, focus, { focusId });
      if (doubt === null) found.push({ change, focus });
      else blockers.push(doubt);
    }
  }
  return { found, blockers };
}

const LINES_LISTED = 20;

function frameBlockers(file: FocusFile, treeId: string): Blocker[] {
  const [tree, ...twins] = file.trees.filter(({ id }) => id === treeId);
  if (tree === undefined) return [missingTree(file, treeId)];
  if (twins.length > 0) {
    const lines = [tree, ...twins].map((each) => lineOf(file, each));
    return [
      {
        code: "FOCUS_TREE_DUPLICATED",
        message: `The file has ${lines.length} trees "${treeId}", in lines ${inlineText(lines.join(", "))}.`,
        details: { lines: lines.slice(0, LINES_LISTED) },
      },
    ];
  }
  const doubt = doubtBlocker(file, tree, {}, tree.focuses);
  return doubt === null ? [] : [doubt];
}

function missingTree({ trees, shared }: FocusFile, treeId: string): Blocker {
  const ids = trees.flatMap(({ id }) => id ?? []);
  const has = [
    ...(ids.length === 0 ? [] : [`the ${ids.length === 1 ? "tree" : "trees"} ${ids.map((id) => `"${id}"`).join(", ")}`]),
    ...(shared.length === 0 ? [] : ["shared or joint focuses at its root, which treeId null means"]),
  ];
  return {
    code: "FOCUS_TREE_MISSING",
    message: inlineText(`The file has no focus_tree "${treeId}"; it has ${has.length === 0 ? "no trees at all" : has.join(", and ")}.`),
  };
}

function missingFocus(file: FocusFile, { treeId, focusId }: { treeId: string | null; focusId: string }): Blocker {
  const holds = (focuses: readonly Focus[]) => focuses.some(({ id }) => id === focusId);
  const other = file.trees.find((tree: FocusTree) => tree.id !== treeId && holds(tree.focuses));
  const place = treeId === null ? "is no shared or joint focus at the root of the file" : `is not in the tree "${treeId}"`;
  const hint =
    other !== undefined
      ? `; the tree "${other.id ?? ""}" has it`
      : treeId !== null && holds(file.shared)
        ? "; it is one at the root of the file, which treeId null means"
        : "";
  return { code: "FOCUS_MISSING", message: inlineText(`"${focusId}" ${place}${hint}.`), details: { focusId } };
}

/** Null when the structure of the range, without the ranges `except` inside it, is beyond doubt. */
function doubtBlocker(file: FocusFile, range: Range, details: { focusId?: string }, except: readonly Range[] = []): Blocker | null {
  const [doubt] = syntaxDoubts(file.script, range, except);
  if (doubt === undefined) return null;
  const line = lineOf(file, doubt);
  const place = details.focusId === undefined ? "The tree itself" : `The focus "${details.focusId}"`;
  return {
    code: "FOCUS_SYNTAX_ERROR",
    message: inlineText(`${place} has a syntax error in line ${line}, so that its structure is in doubt: ${doubt.message}`),
    details: { ...details, line, finding: doubt.code },
  };
}

export function lineOf({ script }: FocusFile, { start }: { readonly start: number }): number {
  return positionAt(script, start).line;
}

import { resolvePositions, type GridPosition, type ResolvedPosition } from "../../focus/absolute-positions.ts";
import { placementOf, type Placement } from "../../focus/placement.ts";
import type { Focus, FocusFile } from "../../focus/read-focus-file.ts";
import { compareDiagnostics, type Diagnostic } from "../../mod/diagnostic.ts";
import { locate } from "../../mod/source-location.ts";
import type { Blocker } from "../blocker.ts";
import { inlineText } from "../inline-lists.ts";
import type { FocusRow } from "./contract.ts";
import { focusesOf, lineOf } from "./find-focuses.ts";
import type { PlacementChange } from "./manifest.ts";

/** What the changes mean for the tree as a whole. */
export interface LayoutVerdict {
  readonly rows: readonly FocusRow[];
  readonly blockers: readonly Blocker[];
  /** Sorted; only what the changes have brought. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface LayoutQuestion {
  readonly before: FocusFile;
  readonly after: FocusFile;
  /** Display path of the file. */
  readonly path: string;
  readonly treeId: string | null;
  readonly changes: readonly PlacementChange[];
  /** Shared and joint focuses of other files. */
  readonly elsewhere: ReadonlyMap<string, Placement>;
}

export function judgeLayout(question: LayoutQuestion): LayoutVerdict {
  const { after, treeId, changes } = question;
  const [was, is] = [layoutOf(question.before, question), layoutOf(after, question)];
  const focuses = new Map(focusesOf(after, treeId).map((focus) => [focus.id, focus]));
  return {
    rows: changes.map(({ focusId }) => ({
      focusId,
      line: lineOf(after, focuses.get(focusId) ?? { start: 0 }),
      before: rowPlacement(was, focusId),
      after: rowPlacement(is, focusId),
    })),
    blockers: changes.flatMap((change) => targetBlocker(change, { was, is }) ?? []),
    diagnostics: [
      ...changes.flatMap(({ focusId }) => unresolved(question, focuses.get(focusId), is.positions.get(focusId)) ?? []),
      ...newMeetings(question, { was, is }),
    ].toSorted(compareDiagnostics),
  };
}

/** Ids that relative positions name and the file itself does not define. */
export function foreignTargets(file: FocusFile, { treeId, changes }: Pick<LayoutQuestion, "treeId" | "changes">): string[] {
  const own = layoutOf(file, { treeId, elsewhere: new Map() }).placements;
  const named = [...own.values(), ...changes].flatMap(({ relativePositionId }) => relativePositionId ?? []);
  return [...new Set(named)].filter((id) => !own.has(id));
}

interface Layout {
  readonly placements: ReadonlyMap<string, Placement>;
  readonly positions: ReadonlyMap<string, ResolvedPosition>;
}

/** A focus of the tree hides one of the same id that could be pulled in. */
function layoutOf(file: FocusFile, { treeId, elsewhere }: Pick<LayoutQuestion, "treeId" | "elsewhere">): Layout {
  const placements = new Map(elsewhere);
  for (const focus of file.shared) placements.set(focus.id, placementOf(focus, file.constants));
  for (const focus of focusesOf(file, treeId)) placements.set(focus.id, placementOf(focus, file.constants));
  return { placements, positions: resolvePositions(placements) };
}

function rowPlacement({ placements, positions }: Layout, focusId: string): FocusRow["before"] {
  const { x = null, y = null, relativePositionId = null } = placements.get(focusId) ?? {};
  const position = positionOf(positions.get(focusId));
  return { x, y, relativePositionId, position: position === null ? null : { ...position } };
}

function positionOf(resolved: ResolvedPosition | undefined): GridPosition | null {
  return resolved?.kind === "at" ? resolved.position : null;
}

/** Only for relative positions that become other ones: what was wrong before is no reason to refuse another field. */
function targetBlocker({ focusId, relativePositionId }: PlacementChange, { was, is }: { was: Layout; is: Layout }): Blocker | null {
  if (relativePositionId === undefined || relativePositionId === null) return null;
  if (was.placements.get(focusId)?.relativePositionId === relativePositionId) return null;
  if (!is.placements.has(relativePositionId)) {
    return {
      code: "FOCUS_RELATIVE_TARGET_MISSING",
      message: inlineText(
        `"${relativePositionId}", which "${focusId}" shall be relative to, is no focus of the tree and no shared or joint focus that the mod defines.`,
      ),
      details: { focusId, relativePositionId },
    };
  }
  const resolved = is.positions.get(focusId);
  if (resolved?.kind !== "cycle") return null;
  return {
    code: "FOCUS_RELATIVE_CYCLE",
    message: inlineText(`"${focusId}" would be relative to itself: ${[...resolved.focusIds, resolved.focusIds[0]].join(" → ")}.`),
    details: { focusId, cycle: resolved.focusIds.slice(0, 20) },
  };
}

function unresolved(question: LayoutQuestion, focus: Focus | undefined, resolved: ResolvedPosition | undefined): Diagnostic | null {
  if (focus === undefined || resolved === undefined || resolved.kind === "at") return null;
  return {
    code: "FOCUS_POSITION_UNRESOLVED",
    severity: "info",
    category: "layout",
    message: `Where "${focus.id}" stands in the tree is not known: ${reasonOf(resolved)}. Overlaps were not looked for.`,
    classification: "unresolved_analysis",
    confidence: "unresolved",
    location: locate(question.path, question.after.script, focus, focus.id),
  };
}

function reasonOf(resolved: Exclude<ResolvedPosition, { kind: "at" }>): string {
  switch (resolved.kind) {
    case "missing":
      return `"${resolved.targetId}" is not among the focuses that the mod defines for this tree; the game itself may have it`;
    case "unclear":
      return `"${resolved.focusId}" has a coordinate that is repeated, or no plain number`;
    case "cycle":
      return `${[...resolved.focusIds, resolved.focusIds[0]].join(" → ")} go round in a circle`;
  }
}

/** Focuses that share a position now and did not before: mostly a slip, but branches that hide each other do it on purpose. */
function newMeetings(question: LayoutQuestion, { was, is }: { was: Layout; is: Layout }): Diagnostic[] {
  const { after, path, treeId } = question;
  const placed = focusesOf(after, treeId).flatMap((focus) => {
    const position = positionOf(is.positions.get(focus.id));
    return position === null ? [] : { focus, key: keyOf(position), position, formerKey: keyOf(positionOf(was.positions.get(focus.id))) };
  });
  return [...Map.groupBy(placed, ({ key }) => key).values()].flatMap((together): Diagnostic[] => {
    const [first, ...others] = together;
    const isOld = first?.formerKey !== null && others.every(({ formerKey }) => formerKey === first?.formerKey);
    if (first === undefined || others.length === 0 || isOld) return [];
    const names = others.map(({ focus }) => `"${focus.id}"`);
    return [
      {
        code: "FOCUS_SAME_POSITION",
        severity: "warning",
        category: "layout",
        message: `"${first.focus.id}" now shares the position ${first.position.x}, ${first.position.y} with ${names.join(", ")}. In the game one covers the other, unless they are never shown together.`,
        classification: "probable_defect",
        confidence: "medium",
        location: locate(path, after.script, first.focus, first.focus.id),
        related: others.map(({ focus }) => locate(path, after.script, focus, focus.id)),
      },
    ];
  });
}

function keyOf(position: GridPosition | null): string | null {
  return position === null ? null : `${position.x} ${position.y}`;
}

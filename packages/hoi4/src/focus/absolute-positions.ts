import type { Placement } from "./placement.ts";

export interface GridPosition {
  readonly x: number;
  readonly y: number;
}

/** Where a focus stands in its tree, or what keeps that from being known. */
export type ResolvedPosition =
  | { readonly kind: "at"; readonly position: GridPosition }
  | { readonly kind: "unclear"; readonly focusId: string }
  | { readonly kind: "missing"; readonly targetId: string }
  /** In the order in which they refer to each other. */
  | { readonly kind: "cycle"; readonly focusIds: readonly string[] };

/** Adds up the chains of relative positions; a chain is as long as its author made it, so nothing here recurses. */
export function resolvePositions(placements: ReadonlyMap<string, Placement>): ReadonlyMap<string, ResolvedPosition> {
  const resolved = new Map<string, ResolvedPosition>();
  for (const id of placements.keys()) resolveChain(id, placements, resolved);
  return resolved;
}

function resolveChain(from: string, placements: ReadonlyMap<string, Placement>, resolved: Map<string, ResolvedPosition>): void {
  const chain = new Map<string, Placement>();
  let base: ResolvedPosition = ORIGIN;
  for (let id: string | null = from; id !== null;) {
    const known = resolved.get(id);
    const placement = placements.get(id);
    if (known !== undefined) base = known;
    else if (placement === undefined) base = { kind: "missing", targetId: id };
    else if (chain.has(id)) base = { kind: "cycle", focusIds: [...chain.keys()].slice([...chain.keys()].indexOf(id)) };
    else {
      chain.set(id, placement);
      id = placement.relativePositionId;
      continue;
    }
    break;
  }
  for (const [id, placement] of [...chain].toReversed()) {
    base = add(base, id, placement);
    resolved.set(id, base);
  }
}

const ORIGIN: ResolvedPosition = { kind: "at", position: { x: 0, y: 0 } };

function add(base: ResolvedPosition, focusId: string, { x, y, isUnclear }: Placement): ResolvedPosition {
  if (base.kind !== "at") return base;
  if (isUnclear || x === null || y === null) return { kind: "unclear", focusId };
  return { kind: "at", position: { x: base.position.x + x, y: base.position.y + y } };
}

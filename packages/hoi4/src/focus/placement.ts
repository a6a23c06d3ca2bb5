import { type Pair, pairs, textOf } from "../clausewitz/index.ts";
import type { Focus, FocusFile } from "./read-focus-file.ts";

/** Where a focus says that it stands; what it does not say is 0, or relative to nothing. */
export interface Placement {
  /** Grid columns; null when the file alone does not tell. */
  readonly x: number | null;
  /** Grid rows; null when the file alone does not tell. */
  readonly y: number | null;
  /** The focus that x and y count from; null for the origin of the tree. */
  readonly relativePositionId: string | null;
  /** A field is repeated or holds no plain value, so that the place can only be guessed. */
  readonly isUnclear: boolean;
}

export type PlacementKey = "x" | "y" | "relative_position_id";

/** Reads a focus alone; what its `offset` blocks add depends on the game and is left out. */
export function placementOf(focus: Focus, constants: FocusFile["constants"]): Placement {
  const [x, y, relative] = [fields("x"), fields("y"), fields("relative_position_id")];
  const placement = {
    x: coordinateOf(x, constants),
    y: coordinateOf(y, constants),
    relativePositionId: textOf(relative[0]?.value ?? null),
  };
  const isOne = relative.length === 0 || (relative.length === 1 && placement.relativePositionId !== null);
  return { ...placement, isUnclear: placement.x === null || placement.y === null || !isOne };

  function fields(key: PlacementKey): Pair[] {
    return [...pairs(focus.block, key)];
  }
}

function coordinateOf(found: readonly Pair[], constants: FocusFile["constants"]): number | null {
  const [pair, ...others] = found;
  if (pair === undefined) return 0;
  const text = textOf(pair.value);
  if (others.length > 0 || text === null || pair.operator !== "=") return null;
  return numberOf(text) ?? numberOf(constants.get(text) ?? "");
}

/** Null for what is not plainly a number, such as the name of a variable. */
export function numberOf(text: string): number | null {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)$/u.test(text) ? Number(text) : null;
}

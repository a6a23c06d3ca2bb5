/**
 * A copy whose members stand in code-unit order of their names, without those that are undefined, so that `JSON.stringify` of it is the
 * canonical text: many times faster than writing that text member by member, which is what large graphs need. Names that look like whole
 * numbers are not for it, because JavaScript orders those itself. Throws for what JSON cannot hold.
 */
export function inKeyOrder(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`JSON has no way to write ${value}`);
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of sortedNames(value)) {
    const member = value[name];
    if (member !== undefined) copy[name] = typeof member === "string" ? member : inKeyOrder(member);
  }
  return copy;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Objects of a graph have few shapes: each list of names is sorted once. */
function sortedNames(value: object): readonly string[] {
  const names = Object.keys(value);
  const shape = names.join("\0");
  let sorted = shapes.get(shape);
  if (sorted === undefined) {
    sorted = names.toSorted();
    if (shapes.size < SHAPES_KEPT) shapes.set(shape, sorted);
  }
  return sorted;
}

const shapes = new Map<string, readonly string[]>();
const SHAPES_KEPT = 1_000;

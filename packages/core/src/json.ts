/** JSON values as they cross every boundary of Holdfast, and the two texts we make of them. */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Canonical text: object keys in code-unit order, no white space.
 * The same value gives the same text whatever order it was built in, so its digest can name it.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/**
 * Where a value holds text that Postgres cannot keep in `text` or `jsonb` (NUL, or half of a surrogate pair), or null.
 * Input is refused at the edge by this path; output keeps such text, escaped, in `json` columns.
 */
export function findUnstorableText(value: JsonValue, path: readonly (string | number)[] = []): readonly (string | number)[] | null {
  if (typeof value === "string") return isStorableText(value) ? null : path;
  if (value === null || typeof value !== "object") return null;
  const members: Iterable<readonly [string | number, JsonValue]> = isJsonArray(value) ? value.entries() : Object.entries(value);
  for (const [key, member] of members) {
    if (typeof key === "string" && !isStorableText(key)) return path;
    const found = findUnstorableText(member, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

import type { JsonObject, JsonValue } from "@holdfast/core";

/** A value of ours as the JSON that it would be written as: members without a value left out. Throws for what JSON cannot hold. */
export function toJson(value: unknown): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "object") return toJsonObject(value);
  throw new TypeError(`JSON has no way to write a ${typeof value} such as this one`);
}

export function toJsonObject(value: object): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, toJson(member)]),
  );
}

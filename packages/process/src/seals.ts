import { createHmac } from "node:crypto";
import type { JsonValue, Seals } from "@holdfast/core";
import type { Key } from "./keys.ts";
import { isSameText } from "./same-text.ts";

/** `key.signature`, an HMAC-SHA256 in base64url over the purpose, the key's id and the parts. The first key seals, all verify. */
export function createSeals(keys: readonly Key[]): Seals {
  const [sealingKey] = keys;
  if (sealingKey === undefined) throw new Error("seals need at least one key");
  const keyById = new Map(keys.map((key) => [key.id, key]));
  return {
    seal: (purpose, parts) => sealWith(sealingKey, purpose, parts),
    isGenuine: (purpose, parts, seal) => {
      const key = keyById.get(seal.slice(0, seal.indexOf(".")));
      return key !== undefined && isSameText(sealWith(key, purpose, parts), seal);
    },
  };
}

function sealWith({ id, secret }: Key, purpose: string, parts: readonly JsonValue[]): string {
  // As a JSON list, so that no two records run together into one text.
  const signature = createHmac("sha256", secret)
    .update(JSON.stringify([purpose, id, ...parts]))
    .digest("base64url");
  return `${id}.${signature}`;
}

import { z } from "zod";
import { list } from "./variables.ts";

/** A secret that signs handles and seals records; its id travels with what it made. */
export interface Key {
  readonly id: string;
  readonly secret: Uint8Array;
}

const KEY_PATTERN = /^([A-Za-z0-9_-]{1,16}):([A-Za-z0-9_-]{43})=?$/u;

/** `id:secret` between commas: the first one signs, all of them verify. Servers and workers of one service share them. */
export const keys = list.transform((items, context): readonly Key[] => {
  const found: Key[] = [];
  for (const item of items) {
    const [, id, text] = KEY_PATTERN.exec(item) ?? [];
    if (id === undefined || text === undefined) {
      context.addIssue({ code: "custom", message: "expected id:secret, the secret being 32 bytes in base64url" });
      return z.NEVER;
    }
    if (found.some((key) => key.id === id)) {
      context.addIssue({ code: "custom", message: `the key id "${id}" is used twice` });
      return z.NEVER;
    }
    found.push(Object.freeze({ id, secret: Buffer.from(text, "base64url") }));
  }
  if (found.length > 0) return Object.freeze(found);
  context.addIssue({ code: "custom", message: "expected at least one id:secret" });
  return z.NEVER;
});

import { createHash } from "node:crypto";

/** Lower-case hexadecimal, as file hashes are written everywhere in Holdfast. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

import { z } from "zod";

/** Ids are branded so that one is never passed for another. All are lower-case UUIDs. */
export const taskIdSchema = z.uuid().brand<"TaskId">();
export type TaskId = z.infer<typeof taskIdSchema>;

export const workerIdSchema = z.uuid().brand<"WorkerId">();
export type WorkerId = z.infer<typeof workerIdSchema>;

/**
 * Task ids are UUIDs of version 7 (RFC 9562, 5.7): the time in front keeps inserts at the right edge of every index.
 * What an outsider cannot guess is the signature in the handle, not this.
 */
export function taskIdFrom(parts: { unixMs: number; random: Uint8Array }): TaskId {
  const { unixMs, random } = parts;
  if (random.length !== 10) throw new RangeError(`a task id takes 10 random bytes, got ${random.length}`);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(unixMs / 2 ** 32));
  view.setUint32(2, unixMs % 2 ** 32);
  bytes.set(random, 6);
  view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x70);
  view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return taskIdSchema.parse(`${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`);
}

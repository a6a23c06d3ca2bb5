import { CHUNK_BYTES } from "../sandbox/frames.ts";

/** The bytes in pieces that fit into a frame. Nothing is copied, and no piece is empty. */
export function* inPieces(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const part of parts) for (let at = 0; at < part.length; at += CHUNK_BYTES) yield part.subarray(at, at + CHUNK_BYTES);
}

/** What a frame carries: a JSON message, or bytes of an artifact. */
export type FrameKind = "json" | "bytes";

export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Buffer;
}

/** The stream is not one of frames, or a frame is larger than allowed. Nothing after it can be understood. */
export class FramingError extends Error {
  override readonly name = "FramingError";
}

const HEADER_BYTES = 5;
const KIND_OF_BYTE: ReadonlyMap<number, FrameKind> = new Map([
  [0x4a, "json"],
  [0x42, "bytes"],
]);
const BYTE_OF_KIND: Readonly<Record<FrameKind, number>> = { json: 0x4a, bytes: 0x42 };

/** A frame on the wire: payload length (32 bits, big endian), one byte for the kind, payload. */
export function encodeFrame(kind: FrameKind, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32BE(payload.length, 0);
  frame.writeUInt8(BYTE_OF_KIND[kind], 4);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export interface FrameReader {
  /** Takes the next bytes of the stream, in whatever pieces they come, and answers the frames they complete. Throws `FramingError`. */
  read(chunk: Buffer): readonly Frame[];
}

/**
 * Reads frames from a stream whose author is not trusted: a length above `maxBytes` of its kind is refused when its header
 * arrives, before a byte of the payload is kept.
 */
export function createFrameReader(maxBytes: (kind: FrameKind) => number): FrameReader {
  const held: Buffer[] = [];
  let heldBytes = 0;
  let header: { readonly kind: FrameKind; readonly length: number } | null = null;

  function take(length: number): Buffer {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const first = held.shift();
      if (first === undefined) throw new RangeError(`${length} bytes were taken from a frame reader that holds fewer`);
      if (first.length > missing) held.unshift(first.subarray(missing));
      parts.push(first.subarray(0, missing));
      missing -= Math.min(missing, first.length);
    }
    heldBytes -= length;
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, length);
  }

  return {
    read(chunk) {
      if (chunk.length > 0) held.push(chunk);
      heldBytes += chunk.length;
      const frames: Frame[] = [];
      for (;;) {
        if (header === null) {
          if (heldBytes < HEADER_BYTES) return frames;
          header = parseHeader(take(HEADER_BYTES), maxBytes);
        }
        if (heldBytes < header.length) return frames;
        frames.push({ kind: header.kind, payload: take(header.length) });
        header = null;
      }
    },
  };
}

function parseHeader(bytes: Buffer, maxBytes: (kind: FrameKind) => number): { kind: FrameKind; length: number } {
  const length = bytes.readUInt32BE(0);
  const byte = bytes.readUInt8(4);
  const kind = KIND_OF_BYTE.get(byte);
  if (kind === undefined) throw new FramingError(`no frame starts with the kind 0x${byte.toString(16)}`);
  if (length > maxBytes(kind)) throw new FramingError(`a ${kind} frame of ${length} bytes exceeds the ${maxBytes(kind)} allowed now`);
  return { kind, length };
}

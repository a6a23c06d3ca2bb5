import type { Readable } from "node:stream";

/** Keeps the end of what a child writes for people, and counts all of it. */
export interface OutputTail {
  readonly bytes: number;
  text(): string;
  /** Starts anew for the next run. */
  clear(): void;
}

const KEPT_BYTES = 8 * 1024;

export function tailOutput(stream: Readable, onBytes: () => void): OutputTail {
  let kept: Buffer = Buffer.alloc(0);
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    kept = Buffer.concat([kept, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
    onBytes();
  });
  // A pipe that breaks says nothing that the end of the process does not say better.
  stream.on("error", () => undefined);
  return {
    get bytes() {
      return bytes;
    },
    text: () => kept.toString("utf8"),
    clear() {
      kept = Buffer.alloc(0);
      bytes = 0;
    },
  };
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { createFrameReader, encodeFrame, FramingError, type Frame } from "./framing.ts";

const frame = fc.record({
  kind: fc.constantFrom("json" as const, "bytes" as const),
  payload: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
});

test("frames come out as they went in, however the stream is cut into pieces", () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 97 }), { minLength: 1 }), (frames, cuts) => {
      const stream = Buffer.concat(frames.map(({ kind, payload }) => encodeFrame(kind, payload)));
      const reader = createFrameReader(() => 400);
      const read: Frame[] = [];
      for (let at = 0, turn = 0; at < stream.length; turn += 1) {
        const length = cuts[turn % cuts.length] ?? 1;
        read.push(...reader.read(stream.subarray(at, at + length)));
        at += length;
      }
      expect(read.map(({ kind, payload }) => ({ kind, payload: payload.toString("hex") }))).toEqual(
        frames.map(({ kind, payload }) => ({ kind, payload: payload.toString("hex") })),
      );
    }),
  );
});

test("a frame is refused by the length in its header, before its payload arrives", () => {
  const header = encodeFrame("json", Buffer.alloc(101)).subarray(0, 5);
  expect(() => createFrameReader(() => 100).read(header)).toThrow(FramingError);
});

test("each kind of frame has its own limit", () => {
  const reader = createFrameReader((kind) => (kind === "bytes" ? 100 : 10));
  expect(reader.read(encodeFrame("bytes", Buffer.alloc(100)))).toHaveLength(1);
  expect(() => reader.read(encodeFrame("json", Buffer.alloc(11)))).toThrow(/json frame of 11 bytes/u);
});

test("random bytes either look like frames within the limit or are refused", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }), (chunks) => {
      expect(readUntilRefused(chunks).every(({ payload }) => payload.length <= 128)).toBe(true);
    }),
  );
});

function readUntilRefused(chunks: readonly Uint8Array[]): readonly Frame[] {
  const reader = createFrameReader(() => 128);
  const frames: Frame[] = [];
  try {
    for (const chunk of chunks) frames.push(...reader.read(Buffer.from(chunk)));
  } catch (error) {
    if (!(error instanceof FramingError)) throw error;
  }
  return frames;
}

test("text that is no frame at all is refused at its fifth byte", () => {
  const reader = createFrameReader(() => 2 ** 32);
  expect(reader.read(Buffer.from("hell"))).toEqual([]);
  expect(() => reader.read(Buffer.from("o"))).toThrow(/kind 0x6f/u);
});

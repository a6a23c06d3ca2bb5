import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openEventStream, type EventStream } from "./event-stream.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Opened {
  readonly stream: EventStream;
  readonly client: AbortController;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly hungUp: () => boolean;
}

function open(): Opened {
  const client = new AbortController();
  let isHungUp = false;
  const stream = openEventStream({ signal: client.signal, hangUp: () => (isHungUp = true), keepAliveMs: 15_000, stallMs: 30_000 });
  if (stream.response.body === null) throw new Error("the response has no body");
  return { stream, client, reader: stream.response.body.getReader(), hungUp: () => isHungUp };
}

async function readAll(reader: Opened["reader"]): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}

test("messages arrive as events, in order, and the last one closes the stream", async () => {
  const { stream, reader } = open();
  stream.send({ n: 1 });
  stream.send({ n: "zwei\n" });
  stream.end({ n: 3 });
  stream.send({ n: 4 });
  expect(await readAll(reader)).toBe(
    'event: message\ndata: {"n":1}\n\nevent: message\ndata: {"n":"zwei\\n"}\n\nevent: message\ndata: {"n":3}\n\n',
  );
  expect(vi.getTimerCount()).toBe(0);
});

test("nothing between is asked to buffer or to keep", () => {
  const { headers, status } = open().stream.response;
  expect([status, headers.get("Content-Type"), headers.get("X-Accel-Buffering"), headers.get("Cache-Control")]).toEqual([
    200,
    "text/event-stream",
    "no",
    "no-cache, no-transform",
  ]);
});

test("a silent stream carries a comment every fifteen seconds, and none for a reader that takes nothing", async () => {
  const { stream, reader } = open();
  const first = reader.read();
  await vi.advanceTimersByTimeAsync(14_999);
  stream.send({ n: 1 });
  expect(new TextDecoder().decode((await first).value)).toContain('{"n":1}');
  const second = reader.read();
  await vi.advanceTimersByTimeAsync(1);
  expect(new TextDecoder().decode((await second).value)).toBe(": keep-alive\n\n");
  // Two more are due, and the second finds the first one unread.
  await vi.advanceTimersByTimeAsync(44_000);
  stream.end({});
  expect(await readAll(reader)).toBe(": keep-alive\n\nevent: message\ndata: {}\n\n");
});

test("a large message leaves no room until its reader has taken enough of it, and arrives whole", async () => {
  const { stream, reader } = open();
  const text = "é".repeat(500_000);
  stream.send({ text });
  expect(stream.isFull).toBe(true);
  let hasRoom = false;
  const room = stream.room().then(() => (hasRoom = true));
  const parts: Uint8Array[] = [];
  for (let pieces = 0; pieces < 50; pieces += 1) parts.push((await reader.read()).value ?? new Uint8Array());
  await vi.advanceTimersByTimeAsync(0);
  expect(hasRoom).toBe(false);
  for (let pieces = 0; pieces < 10; pieces += 1) parts.push((await reader.read()).value ?? new Uint8Array());
  await room;
  stream.end({});
  const rest = await readAll(reader);
  expect(Buffer.concat(parts).toString() + rest).toContain(JSON.stringify({ text }));
});

test("a reader that takes nothing for thirty seconds is cut off at its connection, and nobody waits for it", async () => {
  const { stream, hungUp } = open();
  stream.send({ text: "x".repeat(100_000) });
  const room = stream.room();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(hungUp()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(hungUp()).toBe(true);
  await room;
  expect(stream.over.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a reader that is slow and moves is not cut off", async () => {
  const { stream, reader, hungUp } = open();
  stream.send({ text: "x".repeat(100_000) });
  stream.end({});
  for (let pieces = 0; pieces < 6; pieces += 1) {
    await vi.advanceTimersByTimeAsync(29_000);
    await reader.read();
  }
  expect(hungUp()).toBe(false);
  expect(await readAll(reader)).toContain("data: {}");
});

test.for(["its signal", "cancelling the body"])("a client that leaves by %s ends the stream and its timers", async (way) => {
  const { stream, client, reader, hungUp } = open();
  stream.send({ n: 1 });
  if (way === "its signal") client.abort();
  else await reader.cancel();
  expect(stream.over.aborted).toBe(true);
  stream.send({ n: 2 });
  stream.end({ n: 3 });
  await stream.room();
  expect(vi.getTimerCount()).toBe(0);
  expect(hungUp()).toBe(false);
});

test("a client that was gone before leaves nothing behind", () => {
  const stream = openEventStream({ signal: AbortSignal.abort(), hangUp: () => undefined, keepAliveMs: 15_000, stallMs: 30_000 });
  expect(stream.over.aborted).toBe(true);
  stream.send({});
  expect(vi.getTimerCount()).toBe(0);
});

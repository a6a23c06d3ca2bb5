import { expect, test } from "vitest";
import { readJsonBody } from "./read-json-body.ts";

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

const limits = { maxBytes: 1000, maxDepth: 20 };

function post(body: Body, headers: Record<string, string> = {}): Request {
  return new Request("http://127.0.0.1/mcp", { method: "POST", body, headers, duplex: "half" });
}

function stream(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(chunk));
    },
  });
}

test.for(['{"a":"é😀"}', "null", "[1]", '"text"'])("%s is read as it is, with and without a declared length", async (text) => {
  const expected = { kind: "json", value: JSON.parse(text) as unknown, length: Buffer.byteLength(text) };
  expect(await readJsonBody(post(text, { "content-length": String(Buffer.byteLength(text)) }), limits)).toEqual(expected);
  expect(await readJsonBody(post(stream(text)), limits)).toEqual(expected);
});

test("a character cut by two chunks is put together", async () => {
  const bytes = new TextEncoder().encode('{"a":"😀"}');
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(bytes.subarray(0, 8));
      controller.enqueue(bytes.subarray(8));
      controller.close();
    },
  });
  expect(await readJsonBody(post(body), limits)).toEqual({ kind: "json", value: { a: "😀" }, length: bytes.byteLength });
});

test.for<[string, Body, number, number]>([
  ["an empty body", "", 400, -32_700],
  ["half a document", '{"a":', 400, -32_700],
  ["two documents", "{}{}", 400, -32_700],
  ["a byte order mark", "\uFEFF{}", 400, -32_700],
  ["bytes that are not UTF-8", Uint8Array.of(0x22, 0xff, 0x22), 400, -32_700],
  ["half of a surrogate pair in UTF-8", Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 400, -32_700],
  ["UTF-16", Buffer.from('{"a":1}', "utf16le"), 400, -32_700],
  ["a NaN", '{"a":NaN}', 400, -32_700],
  ["deep nesting", "[".repeat(21) + "]".repeat(21), 400, -32_600],
  ["a member named twice", '{"id":1,"id":2}', 400, -32_600],
  ["a number beyond every double", '{"a":1e999}', 400, -32_600],
  ["too many bytes", `"${"x".repeat(999)}"`, 413, -32_600],
  ["too many bytes in chunks", stream('"', "x".repeat(999), '"'), 413, -32_600],
])("%s is refused", async ([, body, status, code]) => {
  const read = await readJsonBody(post(body), limits);
  if (read.kind !== "refused") throw new Error("it was accepted");
  expect(read.response.status).toBe(status);
  expect(await read.response.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
});

test("a declared length over the limit is refused without reading", async () => {
  const request = post(stream("{}"), { "content-length": "1001" });
  expect(await readJsonBody(request, limits)).toMatchObject({ kind: "refused", response: { status: 413 } });
  expect(request.bodyUsed).toBe(false);
});

test("a body that breaks off is refused", async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("connection reset")) });
  expect(await readJsonBody(post(body), limits)).toMatchObject({ kind: "refused", response: { status: 400 } });
});

import { expect, test } from "vitest";
import { createReply, type Reply } from "./reply.ts";

const timing = { keepAliveMs: 60_000, stallMs: 60_000 };

function reply(options: { expected?: number; isBatch?: boolean; signal?: AbortSignal } = {}): Reply {
  const { expected = 1, isBatch = false, signal = new AbortController().signal } = options;
  return createReply({ signal, exchange: { hangUp: () => undefined }, timing, expected, isBatch });
}

test("an answer with nothing before it is JSON", async () => {
  const one = reply();
  one.answer({ id: 1 });
  const response = await one.response;
  expect(response.headers.get("Content-Type")).toContain("application/json");
  expect(await response.json()).toEqual({ id: 1 });
});

test("a batch of one is answered as a batch", async () => {
  const batch = reply({ isBatch: true });
  batch.answer({ id: 1 });
  expect(await (await batch.response).json()).toEqual([{ id: 1 }]);
});

test("what comes before the answer makes a stream of it, with the place to go on from first", async () => {
  const one = reply();
  one.resumeFrom("start");
  one.send({ method: "m" }, "a");
  one.answer({ id: 1 }, "b");
  expect(await (await one.response).text()).toBe(
    'id: start\ndata: \n\nevent: message\nid: a\ndata: {"method":"m"}\n\nevent: message\nid: b\ndata: {"id":1}\n\n',
  );
});

test("answers that came before a stream was needed are not lost, and the last one ends it", async () => {
  const batch = reply({ expected: 3, isBatch: true });
  batch.answer({ id: 1 });
  batch.send({ method: "m" });
  batch.answer({ id: 2 });
  batch.answer({ id: 3 });
  batch.answer({ id: 4 });
  const ids = Array.from((await (await batch.response).text()).matchAll(/"id":(\d)/gu), ([, id]) => id);
  expect(ids).toEqual(["1", "2", "3"]);
});

test("a reply that ends without its answer is a stream with the place to go on from", async () => {
  const one = reply();
  one.resumeFrom("start");
  one.finish();
  one.answer({ id: 1 });
  expect(await (await one.response).text()).toBe("id: start\ndata: \n\n");
});

test("a client that goes away ends the reply, before it began and in its middle", async () => {
  const early = new AbortController();
  const one = reply({ signal: early.signal });
  early.abort();
  expect(one.left.aborted).toBe(true);
  expect((await one.response).status).toBe(204);

  const other = reply();
  other.open();
  expect(other.left.aborted).toBe(false);
  await (await other.response).body?.cancel();
  expect(other.left.aborted).toBe(true);
});

test("the end of a reply is not taken for a client that went away", async () => {
  const one = reply();
  one.open();
  one.answer({ id: 1 });
  await (await one.response).text();
  expect(one.left.aborted).toBe(false);
});

import { expect, test } from "vitest";
import { createArtifactService, MAX_RANGE_BYTES, type ArtifactService, type ReadArtifact } from "./artifact-service.ts";

const principal = { issuer: "https://id.example", subject: "alice", groups: [], scopes: [] };
const uri = `holdfast://workspace/current/artifact/${"ab".repeat(32)}/graph.json`;

/** One artifact as the store gives it out. */
function serviceWith(content: string | Uint8Array, mediaType = "application/json"): ArtifactService & { lengths: number[] } {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const lengths: number[] = [];
  const read: ReadArtifact = async ({ offset, length }) => {
    lengths.push(length);
    return { bytes: bytes.subarray(offset, offset + length), totalBytes: bytes.byteLength, mediaType };
  };
  return { ...createArtifactService(read), lengths };
}

test("an artifact without a range comes whole, when it fits", async () => {
  const range = await serviceWith("{}").read(principal, uri);
  expect(range).toMatchObject({ uri, text: "{}", offset: 0, totalBytes: 2, next: null });
});

test("following next yields the whole artifact and then null", async () => {
  const content = "0123456789".repeat(5);
  const service = serviceWith(content);
  const parts: (string | null)[] = [];
  for (let at: string | null = `${uri}?offset=0&length=20`; at !== null;) {
    const range = await service.read(principal, at);
    parts.push(range.text);
    at = range.next;
  }
  expect(parts).toEqual([content.slice(0, 20), content.slice(20, 40), content.slice(40)]);
});

test("no read returns more than the limit, and its continuation says where to go on", async () => {
  const service = serviceWith("x".repeat(MAX_RANGE_BYTES + 1));
  const range = await service.read(principal, `${uri}?offset=0&length=999999999999`);
  expect(range.bytes.byteLength).toBe(1_048_576);
  expect(range.next).toBe(`${uri}?offset=1048576&length=1048576`);
  expect(service.lengths).toEqual([1_048_576]);
});

test("a range past the end is empty and does not continue", async () => {
  expect(await serviceWith("{}").read(principal, `${uri}?offset=50`)).toMatchObject({ text: "", totalBytes: 2, next: null });
});

test("a range of length zero does not continue for ever", async () => {
  expect((await serviceWith("{}").read(principal, `${uri}?length=0`)).next).toBeNull();
});

test("a range that cuts a character is bytes, not text", async () => {
  const service = serviceWith("é!");
  expect((await service.read(principal, `${uri}?offset=0&length=1`)).text).toBeNull();
  expect((await service.read(principal, `${uri}?offset=1&length=2`)).text).toBeNull();
  expect((await service.read(principal, `${uri}?offset=0&length=2`)).text).toBe("é");
});

test("a byte order mark is not lost", async () => {
  expect((await serviceWith("\uFEFF{}").read(principal, uri)).text).toBe("\uFEFF{}");
});

test("what is not text by its type is never guessed to be", async () => {
  expect((await serviceWith("plain", "application/octet-stream").read(principal, uri)).text).toBeNull();
});

test.for([
  "https://example.com/",
  "holdfast://workspace/current",
  `holdfast://workspace/current/artifact/${"AB".repeat(32)}/graph.json`,
  `holdfast://workspace/../artifact/${"ab".repeat(32)}/graph.json`,
  `${uri}?offset=-1`,
  `${uri}?offset=1&offset=2`,
  `${uri}?length=1e3`,
  `${uri}#part`,
  `${uri}/more`,
  "",
])("%s is not found without asking the store", async (address) => {
  const service = serviceWith("{}");
  await expect(service.read(principal, address)).rejects.toMatchObject({ code: "artifact_not_found", data: { uri: address } });
  expect(service.lengths).toEqual([]);
});

import { createHash } from "node:crypto";
import type { ArtifactAddress, ClaimedAttempt } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readArtifact } from "../reads/read-artifact.ts";
import { alice, alpha, memberOf, openBench, testWorkspace, type Bench } from "../testing/bench.ts";
import { addWorkspace } from "./add-workspace.ts";
import { addGrant } from "./change-grants.ts";
import { storeArtifact } from "./store-artifact.ts";

let bench: Bench;
let attempt: ClaimedAttempt;
beforeAll(async () => {
  bench = await openBench();
  attempt = await bench.claim((await bench.createTask()).id);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const everyByte = Uint8Array.from({ length: 1_000 }, (_, index) => index % 256);

describe("stored bytes", () => {
  test("have the address of their digest and are counted", async () => {
    const stored = await storeArtifact(bench.database, attempt, {
      bytes: everyByte,
      name: "bytes.bin",
      mimeType: "application/octet-stream",
    });
    const sha256 = createHash("sha256").update(everyByte).digest("hex");
    expect(stored).toEqual({ kind: "stored", address: { workspaceId: alpha, sha256, name: "bytes.bin" }, size: 1_000 });
    expect(await read(addressOf(stored), 0, 10_000)).toEqual({
      bytes: Buffer.from(everyByte),
      offset: 0,
      totalBytes: 1_000,
      mediaType: "application/octet-stream",
      name: "bytes.bin",
    });
  });

  test("are kept once, whoever stores them again and under whatever name", async () => {
    const bytes = Buffer.from("the same");
    const other = await bench.claim((await bench.createTask()).id);
    const first = await storeArtifact(bench.database, attempt, { bytes, name: "a.txt", mimeType: "text/plain" });
    expect(await storeArtifact(bench.database, other, { bytes, name: "a.txt", mimeType: "text/html" })).toEqual(first);
    await storeArtifact(bench.database, other, { bytes, name: "b.txt", mimeType: "text/plain" });
    const sha256 = createHash("sha256").update(bytes).digest();
    expect(await bench.sql("select from holdfast.artifact_blob where sha256 = $1", [sha256])).toHaveLength(1);
    expect(await bench.sql("select name, media_type from holdfast.artifact where sha256 = $1 order by name", [sha256])).toEqual([
      { name: "a.txt", media_type: "text/plain" },
      { name: "b.txt", media_type: "text/plain" },
    ]);
  });

  test("may be stored by many attempts at the same moment", async () => {
    const bytes = Buffer.alloc(300_000, "x");
    const file = { bytes, name: "wide.txt", mimeType: "text/plain" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => storeArtifact(bench.database, attempt, file)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test("may be a view into a larger buffer, or nothing at all", async () => {
    const view = await storeArtifact(bench.database, attempt, { bytes: everyByte.subarray(10, 20), name: "view", mimeType: "text/plain" });
    expect((await read(addressOf(view), 0, 100))?.bytes).toEqual(Buffer.from([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]));
    const empty = await storeArtifact(bench.database, attempt, { bytes: new Uint8Array(), name: "empty", mimeType: "text/plain" });
    expect(await read(addressOf(empty), 0, 100)).toMatchObject({ bytes: Buffer.alloc(0), totalBytes: 0 });
  });

  test("keep a title that no text column would take", async () => {
    const title = "\u0000 \ud800 🦊";
    const stored = await storeArtifact(bench.database, attempt, { bytes: Buffer.from(title), name: "t", mimeType: "text/plain", title });
    const [row] = await bench.sql<{ title: string }>("select title::text as title from holdfast.artifact where name = 't'");
    expect(stored.kind).toBe("stored");
    expect(JSON.parse(row?.title ?? "")).toBe(title);
  });
});

describe("an artifact that is stored", () => {
  const links = async (name: string) =>
    await bench.sql("select task_id from holdfast.task_artifact where name = $1 order by task_id", [name]);

  test("is linked at once to each task whose attempt stored it", async () => {
    const other = await bench.claim((await bench.createTask()).id);
    const file = { bytes: Buffer.from("in use"), name: "linked", mimeType: "text/plain" };
    await storeArtifact(bench.database, attempt, file);
    expect(await links("linked")).toEqual([{ task_id: attempt.taskId }]);
    await storeArtifact(bench.database, attempt, file);
    await storeArtifact(bench.database, other, file);
    expect(await links("linked")).toEqual([attempt.taskId, other.taskId].toSorted().map((id) => ({ task_id: id })));
  });

  test("is stored anew when the sweep takes the same bytes, which it had found in place, in that very moment", async () => {
    const bytes = Buffer.from("swept");
    const sha256 = createHash("sha256").update(bytes).digest();
    await bench.sql("insert into holdfast.artifact_blob (workspace_id, sha256, bytes) values ('alpha', $1, $2)", [sha256, bytes]);
    await bench.sql(
      "insert into holdfast.artifact (workspace_id, sha256, name, media_type, size_bytes) values ('alpha', $1, 'swept', 'text/plain', 5)",
      [sha256],
    );
    // The statement stands still after it has found the artifact in place, and before its link is checked.
    await bench.sql(`
      create function public.wait_for_sweep() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
      create trigger wait_for_sweep before insert on holdfast.artifact_blob for each row execute function public.wait_for_sweep()`);
    const sweep = await bench.session();
    await sweep.query("select pg_advisory_lock(1)");
    const storing = storeArtifact(bench.database, attempt, { bytes, name: "swept", mimeType: "text/plain" });
    await bench.whenBlocked(1);
    await sweep.query("delete from holdfast.artifact_blob where sha256 = $1", [sha256]);
    await sweep.query("select pg_advisory_unlock(1)");
    expect(await storing).toMatchObject({ kind: "stored", size: 5 });
    expect(await links("swept")).toEqual([{ task_id: attempt.taskId }]);
    expect(await bench.sql("select from holdfast.artifact_blob where sha256 = $1", [sha256])).toHaveLength(1);
    await bench.sql("drop function public.wait_for_sweep cascade");
  });
});

test.each([
  ["name with a slash", { name: "a/b", mimeType: "text/plain" }],
  ["name with a NUL", { name: "a\u0000", mimeType: "text/plain" }],
  ["empty name", { name: "", mimeType: "text/plain" }],
  ["type with a line break", { name: "a", mimeType: "text/plain\r\nx: y" }],
  ["type without a slash", { name: "a", mimeType: "text" }],
])("a %s is an invalid output and stores nothing", async (_, file) => {
  const bytes = Buffer.from(JSON.stringify(file));
  await expect(storeArtifact(bench.database, attempt, { bytes, ...file })).rejects.toMatchObject({ code: "operation_output_invalid" });
  expect(await bench.sql("select from holdfast.artifact_blob where sha256 = $1", [createHash("sha256").update(bytes).digest()])).toEqual(
    [],
  );
});

test("an upload does not hold up heartbeats", async () => {
  const holder = await bench.session();
  // The upload stands still in the middle of its statement: somebody else is storing the same bytes.
  const bytes = Buffer.from("slow");
  await holder.query("begin");
  await holder.query("insert into holdfast.artifact_blob (workspace_id, sha256, bytes) values ('alpha', $1, $2)", [
    createHash("sha256").update(bytes).digest(),
    bytes,
  ]);
  const upload = storeArtifact(bench.database, attempt, { bytes, name: "slow", mimeType: "text/plain" });
  await bench.whenBlocked(1);
  expect(await bench.ledger.renew([{ attempt, progress: null }], 60_000)).toEqual([{ kind: "renewed", cancelRequested: false }]);
  await holder.query("commit");
  expect(await upload).toMatchObject({ kind: "stored", size: 4 });
});

describe("a range", () => {
  let address: ArtifactAddress;
  const text = Buffer.from(Array.from({ length: 50_000 }, (_, index) => `${index}\n`).join(""));
  beforeAll(async () => {
    address = addressOf(await storeArtifact(bench.database, attempt, { bytes: text, name: "lines.txt", mimeType: "text/plain" }));
  });

  test.each([
    [0, 1],
    [0, 65_536],
    [1, 3],
    [1_999, 4_000],
    [text.length - 1, 1],
    [text.length - 5, 1_000],
    [text.length, 10],
    [text.length + 100, 10],
    [999_999_999_999_999, 999_999_999_999_999],
    [7, 0],
  ])("from %i of length %i is exactly those bytes, with the size of the whole", async (offset, length) => {
    expect(await read(address, offset, length)).toEqual({
      bytes: text.subarray(offset, offset + length),
      offset,
      totalBytes: text.length,
      mediaType: "text/plain",
      name: "lines.txt",
    });
  });

  test("ranges laid end to end are the whole", async () => {
    const parts: Uint8Array[] = [];
    for (let offset = 0; offset < text.length; offset += 70_001)
      parts.push((await read(address, offset, 70_001))?.bytes ?? Buffer.alloc(0));
    expect(Buffer.concat(parts).equals(text)).toBe(true);
  });
});

describe("an artifact is not found", () => {
  test("by who may not read in its workspace, in another workspace, under another name or digest", async () => {
    const bytes = Buffer.from("secret");
    const address = addressOf(await storeArtifact(bench.database, attempt, { bytes, name: "secret.txt", mimeType: "text/plain" }));
    const reader = { ...alice, subject: "reader" };
    expect(await readArtifact(bench.database, { principal: reader, address, offset: 0, length: 10 })).toBeNull();
    await addGrant(bench.database, { ...memberOf(reader), actions: ["run"], expiresAt: null });
    expect(await readArtifact(bench.database, { principal: reader, address, offset: 0, length: 10 })).toBeNull();
    // Artifacts are shared among the principals of the workspace.
    await addGrant(bench.database, { ...memberOf(reader), actions: ["read"], expiresAt: null });
    expect(await readArtifact(bench.database, { principal: reader, address, offset: 0, length: 10 })).toMatchObject({ bytes });
    const beta = testWorkspace("beta");
    await addWorkspace(bench.database, { id: beta, root: "mods", path: "beta" });
    await addGrant(bench.database, { ...memberOf(alice, beta), actions: ["read"], expiresAt: null });
    expect(await read({ ...address, workspaceId: beta }, 0, 10)).toBeNull();
    expect(await read({ ...address, name: "other.txt" }, 0, 10)).toBeNull();
    expect(await read({ ...address, sha256: "0".repeat(64) }, 0, 10)).toBeNull();
  });
});

async function read(address: ArtifactAddress, offset: number, length: number) {
  return await readArtifact(bench.database, { principal: alice, address, offset, length });
}

function addressOf(answer: Awaited<ReturnType<typeof storeArtifact>>): ArtifactAddress {
  if (answer.kind !== "stored") throw new Error("the artifact was refused");
  return answer.address;
}

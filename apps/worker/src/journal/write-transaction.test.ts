import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  taskIdSchema,
  workerIdSchema,
  type ClaimedAttempt,
  type FileVersion,
  type JournalEntry,
  type JournalState,
  type WriteJournal,
} from "@holdfast/core";
import { createSeals } from "@holdfast/process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sealPlan } from "./seal-plan.ts";
import { createWriteTransaction } from "./write-transaction.ts";

const key = { id: "k1", secret: Buffer.alloc(32, 1) };
let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-write-")));
  await writeFile(path.join(root, "a.txt"), "old");
});
afterEach(() => rm(root, { recursive: true, force: true }));

const version = (text: string): FileVersion => {
  const bytes = Buffer.from(text);
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
};

/** Takes up a plan that makes "new" of "old" in `a.txt`, sealed by `sealedBy`, and says what became of it and of the files. */
async function takeUp(found: {
  state: JournalState;
  sealedBy?: typeof key;
  answer?: (to: JournalState, moves: number) => "moved" | "refused";
}) {
  const { state, sealedBy = key, answer = () => "moved" } = found;
  const claim: ClaimedAttempt = {
    taskId: taskIdSchema.parse("0190b8a0-0000-7000-8000-000000000001"),
    workerId: workerIdSchema.parse("0190b8a0-0000-4000-8000-00000000000a"),
    token: 2,
    operation: "pack.write",
    operationVersion: 1,
    effect: "write",
    input: {},
    workspace: { id: "current", root: "mods", path: "" },
    owner: { issuer: "i", subject: "s" },
    cancelRequested: false,
    checkpoint: null,
    steps: [],
    inputs: [],
    staged: null,
    reusable: null,
    journalState: state,
  };
  const plan = sealPlan(createSeals([sealedBy]), claim, {
    files: [{ path: "a.txt", before: version("old"), after: version("new") }],
    resultText: '{"content":[]}',
    artifacts: [],
  });
  const entry: JournalEntry = { ...plan, state, recoveries: 0 };
  const moves: JournalState[] = [];
  const journal: WriteJournal = {
    bind: () => Promise.resolve("refused"),
    read: () => Promise.resolve(entry),
    move: (_, { to }) => {
      const given = answer(to, moves.length);
      if (given === "moved") moves.push(to);
      return Promise.resolve(given);
    },
  };
  const write = createWriteTransaction({
    attempt: claim,
    journal,
    seals: createSeals([key]),
    root,
    isLeaseLost: () => false,
    stopping: new AbortController().signal,
    cancelled: new AbortController().signal,
    telemetry: { emit: () => undefined },
    onRetry: () => undefined,
  });
  await write.recover().catch(() => undefined);
  const rest = await write.rest();
  const answered = rest.kind === "none" ? await write.transact({ files: [], result: { content: [] }, artifacts: [] }) : null;
  return { rest, answered, moves, names: await readdir(root), text: await readFile(path.join(root, "a.txt"), "utf8") };
}

test("an attempt that is replaced while it takes up a plan leaves nothing beside the files", async () => {
  const { rest, names, text } = await takeUp({ state: "applying", answer: (_, moves) => (moves < 2 ? "moved" : "refused") });
  expect([rest.kind, text, names]).toEqual(["lost", "old", ["a.txt"]]);
});

test("a plan that was undone needs no seal of ours: nothing of it is believed, and there is no second one", async () => {
  const foreign = { id: "k0", secret: Buffer.alloc(32, 2) };
  const { rest, answered, moves, text } = await takeUp({ state: "restored", sealedBy: foreign });
  expect([rest.kind, answered?.kind, moves, text]).toEqual(["none", "rejected", [], "old"]);
});

test("a plan without our seal is not carried out, and somebody has to look at it", async () => {
  const foreign = { id: "k0", secret: Buffer.alloc(32, 2) };
  const { rest, moves, text } = await takeUp({ state: "planned", sealedBy: foreign });
  expect([rest.kind, moves, text]).toEqual(["unresolved", ["unresolved"], "old"]);
});

import { describe, expect, test } from "vitest";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { sha256Of } from "../sha256.ts";
import { listModFiles } from "./list-mod-files.ts";
import { checkProposal, PROPOSAL_LIMITS, type ProposedSource } from "./proposed-sources.ts";

const MIB = 1024 * 1024;
const propose = (relativePath: string, source: string | null = "") => ({ relativePath, source });

describe("a proposal is refused as a whole", () => {
  test.each([
    ["/events/a.txt", "PROPOSED_PATH_INVALID"],
    ["C:/events/a.txt", "PROPOSED_PATH_INVALID"],
    ["c:events/a.txt", "PROPOSED_PATH_INVALID"],
    ["../other/events/a.txt", "PROPOSED_PATH_INVALID"],
    ["events/../../a.txt", "PROPOSED_PATH_INVALID"],
    ["mod:../a.txt", "PROPOSED_PATH_INVALID"],
    ["events\\a.txt", "PROPOSED_PATH_INVALID"],
    ["events/a\0.txt", "PROPOSED_PATH_INVALID"],
    ["events//a.txt", "PROPOSED_PATH_INVALID"],
    ["./events/a.txt", "PROPOSED_PATH_INVALID"],
    [".git/a.txt", "PROPOSED_PATH_INVALID"],
    ["", "PROPOSED_PATH_INVALID"],
    ["events/a.exe", "PROPOSED_EXTENSION_UNSUPPORTED"],
    ["holdfast.json", "PROPOSED_EXTENSION_UNSUPPORTED"],
  ])("for the path %j", (path, code) => {
    expect(checkProposal([propose("events/fine.txt"), propose(path)])).toMatchObject({ code });
  });

  test("for a path that comes twice, whatever the case of its letters", () => {
    expect(checkProposal([propose("events/a.txt"), propose("mod:Events/A.TXT", null)])).toMatchObject({ code: "PROPOSED_PATH_REPEATED" });
  });

  test("for more files than a call looks at", () => {
    const files = Array.from({ length: 65 }, (_, index) => propose(`events/${index}.txt`));
    expect(checkProposal(files)).toMatchObject({ code: "PROPOSED_SOURCE_LIMIT" });
    expect(checkProposal(files.slice(1))).toHaveLength(64);
  });

  test("for a file that is too large, and for files that are too large together", () => {
    const large = "x".repeat(8 * MIB);
    expect(checkProposal([propose("events/a.txt", `${large}x`)])).toMatchObject({ code: "PROPOSED_BYTE_LIMIT" });
    const eight = Array.from({ length: 8 }, (_, index) => propose(`events/${index}.txt`, large));
    expect(checkProposal(eight)).toHaveLength(8);
    expect(checkProposal([...eight, propose("events/9.txt", "x")])).toMatchObject({ code: "PROPOSED_BYTE_LIMIT" });
    // Another tool may look at more files, not at larger ones.
    expect(checkProposal([...eight, propose("events/9.txt", "x")], { ...PROPOSAL_LIMITS, totalBytes: 65 * MIB })).toHaveLength(9);
  });
});

describe("in the place of the mod's files", () => {
  const files = { "events/Old.txt": "old", "events/other.txt": "other" };
  const list = async (...sources: ProposedSource[]) => {
    const proposed = checkProposal(sources);
    return "code" in proposed ? proposed : listModFiles(memoryWorkspace(files), { proposed });
  };
  const before = sha256Of(Buffer.from("old"));

  test("a new text, a new file and a removal are seen, and told with the hashes on both sides", async () => {
    const after = sha256Of(Buffer.from("new"));
    expect(
      await list(
        { ...propose("events/old.txt", "new"), expectedSourceHash: before.toUpperCase() },
        propose("mod:events/added.txt", "new"),
        propose("events/other.txt", null),
      ),
    ).toMatchObject({
      files: [
        { displayPath: "mod:events/Old.txt", size: 3, proposed: Buffer.from("new") },
        { displayPath: "mod:events/added.txt", size: 3, proposed: Buffer.from("new") },
      ],
      proposed: [
        { path: "mod:events/Old.txt", sha256Before: before, sha256After: after },
        { path: "mod:events/added.txt", sha256Before: null, sha256After: after },
        { path: "mod:events/other.txt", sha256Before: sha256Of(Buffer.from("other")), sha256After: null },
      ],
    });
  });

  test.each([
    ["another file is there", { relativePath: "events/other.txt", source: "x", expectedSourceHash: before }, "PROPOSED_SOURCE_STALE"],
    ["none is there", { relativePath: "events/none.txt", source: "x", expectedSourceHash: before }, "PROPOSED_SOURCE_STALE"],
    ["none is there to remove", { relativePath: "events/none.txt", source: null }, "PROPOSED_SOURCE_MISSING"],
  ])("nothing is seen when %s", async (_what, source, code) => {
    expect(await list(source)).toMatchObject({ code });
  });

  test("texts get the byte order mark that the game asks for", () => {
    expect(checkProposal([propose("localisation/a_l_english.yml", "l_english:")])).toMatchObject([
      { bytes: Buffer.from("\uFEFFl_english:") },
    ]);
  });
});

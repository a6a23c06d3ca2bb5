import { describe, expect, it } from "vitest";
import { parseWorkspaceId } from "../access/workspace.ts";
import { formatArtifactUri, parseArtifactUri } from "./artifact-link.ts";

const sha256 = "ab".repeat(32);
const workspaceId = parseWorkspaceId("current")!;

describe("artifact addresses", () => {
  it("read back what was written, with and without a range", () => {
    const address = { workspaceId, sha256, name: "event-graph.json" };
    expect(formatArtifactUri(address)).toBe(`holdfast://workspace/current/artifact/${sha256}/event-graph.json`);
    expect(parseArtifactUri(formatArtifactUri(address))).toEqual({ address });
    expect(parseArtifactUri(formatArtifactUri(address, { offset: 0, length: 10 }))).toEqual({ address, offset: 0, length: 10 });
  });

  it.each([
    ["another scheme", `http://workspace/current/artifact/${sha256}/a.json`],
    ["a digest that is too short", "holdfast://workspace/current/artifact/abcd/a.json"],
    [
      "upper-case digits, which would be a second name for the same bytes",
      `holdfast://workspace/current/artifact/${"AB".repeat(32)}/a.json`,
    ],
    ["a workspace id that cannot exist", `holdfast://workspace/Current/artifact/${sha256}/a.json`],
    ["a name that climbs", `holdfast://workspace/current/artifact/${sha256}/..`],
    ["a further path part", `holdfast://workspace/current/artifact/${sha256}/a/b`],
    ["an unknown parameter", `holdfast://workspace/current/artifact/${sha256}/a.json?page=1`],
    ["a parameter given twice", `holdfast://workspace/current/artifact/${sha256}/a.json?offset=1&offset=2`],
    ["a negative offset", `holdfast://workspace/current/artifact/${sha256}/a.json?offset=-1`],
    ["a fragment", `holdfast://workspace/current/artifact/${sha256}/a.json#x`],
  ])("refuse %s", (_what, uri) => {
    expect(parseArtifactUri(uri)).toBeNull();
  });
});

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { focusRewrite } from "./manifest.ts";

const CALL = {
  relativePath: "common/national_focus/harbour.txt",
  treeId: "harbour",
  expectedSourceHash: "0".repeat(64),
  changes: [{ focusId: "pier", x: 1 }],
};

test("the operation writes, may run as a task, and needs both scopes of the pack", () => {
  expect(focusRewrite).toMatchObject({
    name: "hoi4.focus_rewrite",
    version: 1,
    effect: "write",
    tasks: "optional",
    scopes: ["hoi4:read", "hoi4:write"],
  });
});

test("a call for the current workspace needs no workspace id", () => {
  expect(focusRewrite.input.parse(CALL)).toEqual({ workspaceId: "current", ...CALL });
});

describe("arguments are refused with the name of what is wrong:", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["a transaction id", { transactionId: "t" }, "transactionId"],
    ["a plan hash", { planHash: "0".repeat(64) }, "planHash"],
    ["no hash", { expectedSourceHash: undefined }, "expectedSourceHash"],
    ["half a hash", { expectedSourceHash: "abc" }, "expectedSourceHash"],
    ["no tree", { treeId: undefined }, "treeId"],
    ["a file of another folder", { relativePath: "events/a.txt" }, "relativePath"],
    ["a file of another layer", { relativePath: "game:common/national_focus/a.txt" }, "relativePath"],
    ["an absolute path", { relativePath: "/common/national_focus/a.txt" }, "relativePath"],
    ["no change", { changes: [] }, "changes"],
    ["a change of nothing", { changes: [{ focusId: "pier" }] }, "at least one"],
    ["a focus twice", { changes: [CALL.changes[0], { focusId: "pier", y: 1 }] }, "each focusId stands once"],
    ["half a column", { changes: [{ focusId: "pier", x: 1.5 }] }, '"x"'],
    ["an id that is not one word", { changes: [{ focusId: "pier", relativePositionId: "a } b" }] }, "relativePositionId"],
    ["a constant as an id", { changes: [{ focusId: "pier", relativePositionId: "@a" }] }, "relativePositionId"],
    ["too many changes", { changes: Array.from({ length: 501 }, (_, index) => ({ focusId: `f${index}`, x: 1 })) }, "500"],
  ])("%s", (_, wrong, name) => {
    const parsed = focusRewrite.input.safeParse({ ...CALL, ...wrong });
    expect(parsed.success).toBe(false);
    expect(JSON.stringify(parsed.error?.issues)).toContain(name);
  });
});

test("both schemas can be shown to clients as JSON Schema of an object", () => {
  expect(z.toJSONSchema(focusRewrite.input, { io: "input" })).toMatchObject({ type: "object", additionalProperties: false });
  expect(z.toJSONSchema(focusRewrite.output ?? z.never(), { io: "output" })).toMatchObject({ type: "object" });
});

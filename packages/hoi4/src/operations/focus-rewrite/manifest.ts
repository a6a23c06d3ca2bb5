import { z } from "zod";
import { defineOperation, workspaceIdSchema } from "@holdfast/core";
import { focusRewriteOutput } from "./contract.ts";

/** What a word of script can be without quotes, so that it can be written into a file as it is. */
const focusIdSchema = z
  .string()
  .max(200)
  .regex(/^[^\s{}"#=<>!?,;@[\]]+$/u, "expected a focus id, which is one word of script");

const coordinateSchema = z.int().min(-10_000).max(10_000);

const changeSchema = z
  .strictObject({
    focusId: focusIdSchema.describe("Which focus of the tree."),
    x: coordinateSchema
      .optional()
      .describe("Column, counted from the focus that relative_position_id names, or from the left of the tree."),
    y: coordinateSchema.optional().describe("Row, counted likewise, downwards."),
    relativePositionId: focusIdSchema
      .nullable()
      .optional()
      .describe("The focus that x and y count from; null takes relative_position_id away. x and y stay as they are unless they are given."),
  })
  .refine(
    ({ x, y, relativePositionId }) => x !== undefined || y !== undefined || relativePositionId !== undefined,
    "a change names at least one of x, y and relativePositionId",
  );

const input = z.strictObject({
  workspaceId: workspaceIdSchema.default("current").describe("Which workspace to change: the folder of one mod."),
  relativePath: z
    .string()
    .max(1024)
    .regex(
      /^(?:mod:)?common\/national_focus\/[^\\:]+\.txt$/u,
      "expected a .txt file below common/national_focus, from the folder of the mod",
    )
    .describe("The file with the tree, from the folder of the mod: common/national_focus/japan.txt. A leading mod: is accepted."),
  treeId: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .describe("Id of a focus_tree in the file; null for the shared_focus and joint_focus blocks at the root of the file."),
  expectedSourceHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/u, "expected a SHA-256 in lower-case hexadecimal")
    .describe("SHA-256 of the file that the changes were thought out for. When the file is another one by now, the answer says its hash."),
  changes: z
    .array(changeSchema)
    .min(1)
    .max(500)
    .refine((changes) => new Set(changes.map(({ focusId }) => focusId)).size === changes.length, "each focusId stands once")
    .describe("What is to change; every focus and field that is not named stays as it is."),
});

export type FocusRewriteInput = z.infer<typeof input>;
export type PlacementChange = z.infer<typeof changeSchema>;

export const focusRewrite = defineOperation({
  name: "hoi4.focus_rewrite",
  version: 1,
  title: "Move Hearts of Iron IV focuses",
  description: `Changes where focuses of an existing national focus tree stand: x, y and relative_position_id, in place. All changes are made or none.

Every other byte of the file stays as it is: comments, indentation, line ends, encoding. A field that is missing is added in the manner of its neighbours. The result has what was there before and after with the positions that follow from it, the SHA-256 of the file before and after, and links to a unified diff and to the whole list.
FOCUS_CHANGES_APPLIED: the file was written. FOCUS_UNCHANGED: it already says all of this. FOCUS_CHANGES_BLOCKED: nothing was written, and blockers say what stands in the way: a tree or focus that is missing or there twice, a syntax error in a focus to change or in the frame of its tree, a value that is a @constant or no number, a relative target that is missing or leads in a circle.
FOCUS_SOURCE_STALE and FOCUS_SOURCE_CHANGED are errors: the file is not, or not any more, the one that expectedSourceHash names, and nothing was written.
Two focuses that newly share a position are a warning, because branches that exclude each other may. Only files of the mod are changed; blocks named offset are left alone and not counted into positions.`,
  input,
  output: focusRewriteOutput,
  effect: "write",
  tasks: "optional",
  scopes: ["hoi4:read", "hoi4:write"],
});

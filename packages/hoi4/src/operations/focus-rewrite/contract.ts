import { z } from "zod";
import { envelopeSchema } from "../contract.ts";

const placementSchema = z.object({
  x: z.number().nullable().describe("0 where the focus has none; null where the file alone does not tell."),
  y: z.number().nullable(),
  relativePositionId: z.string().nullable(),
  position: z
    .object({ x: z.number(), y: z.number() })
    .nullable()
    .describe("In the tree, with all relative positions added up; null where a part of the sum is not known."),
});

const focusRowSchema = z.object({
  focusId: z.string(),
  line: z.number().describe("Where the focus begins in the file as it is after the call."),
  before: placementSchema,
  after: placementSchema,
});

const focusRewriteDataSchema = z.object({
  treeId: z.string().nullable(),
  relativePath: z.string().describe("As the folder of the mod spells it."),
  sourceHash: z.string().describe("SHA-256 of the file before the call."),
  resultHash: z.string().describe("SHA-256 of the file after the call: the next expectedSourceHash."),
  counts: z.object({
    focuses: z.number().describe("Focuses with a field that was changed."),
    replaced: z.number(),
    inserted: z.number(),
    removed: z.number(),
    warnings: z.number(),
  }),
  focuses: z.array(focusRowSchema).describe("In the order of the changes, those included that changed nothing. Cut when there are many."),
  focusesOmitted: z.number(),
});

export const focusRewriteOutput = envelopeSchema(focusRewriteDataSchema);
export type FocusRewriteOutput = z.infer<typeof focusRewriteOutput>;
export type FocusRewriteData = z.infer<typeof focusRewriteDataSchema>;
export type FocusRow = z.infer<typeof focusRowSchema>;

import { z } from "zod";
import { artifactLinkSchema } from "@holdfast/core";

/** What every tool of the pack answers in `structuredContent`; `data` is the tool's own. */
export function envelopeSchema<Data extends z.ZodType>(data: Data) {
  return z.object({
    status: z
      .enum(["ok", "blocked", "error"])
      .describe(
        "blocked: nothing was changed, because of what blockers say. error: the call could not be answered; then isError is true and blockers say why.",
      ),
    code: z.string().describe("What happened, as an upper-case word. A result that does not cover everything ends in _PARTIAL."),
    workspaceId: z.string(),
    filesScanned: z.array(z.string()).max(INLINE_LIMITS.files).describe("Files that were read, in load order; cut when there are many."),
    proposedFiles: z.array(fileChangeSchema).describe("What the call would write, whether it was written or not."),
    changedFiles: z.array(fileChangeSchema).describe("What the call has written."),
    diagnostics: z.array(diagnosticSchema).describe("Worst first. Cut when there are many; a last entry then says how many are missing."),
    artifacts: z.array(artifactLinkSchema),
    validation: z.object({
      passed: z.boolean(),
      checks: z.array(z.object({ id: z.string(), passed: z.boolean(), message: z.string() })),
    }),
    blockers: z
      .array(z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }))
      .describe("What has to be put right before the call can be answered."),
    data: data.nullable().describe("Null when the call could not be answered."),
  });
}

/** How much of a list a result carries itself. The artifact always has all of it. */
export const INLINE_LIMITS = {
  files: 64,
  fileBytes: 8 * 1024,
  diagnostics: 100,
  diagnosticBytes: 32 * 1024,
  related: 20,
  rows: 200,
  rowBytes: 64 * 1024,
  skippedSources: 50,
  skippedBytes: 8 * 1024,
  /** UTF-16 units of one text: names of sensible length are never cut. */
  text: 300,
} as const;

const fileChangeSchema = z.object({
  path: z.string().describe("Labelled by layer, such as mod:events/a.txt."),
  sha256Before: z.string().nullable(),
  sha256After: z.string().nullable(),
});

const positionSchema = z.object({ line: z.number(), column: z.number(), offset: z.number() });

const locationSchema = z.object({
  path: z.string().describe("Labelled by layer, such as mod:events/a.txt."),
  start: positionSchema,
  end: positionSchema,
  symbol: z.string().optional(),
});

const diagnosticSchema = z.object({
  code: z.string(),
  severity: z.enum(["info", "warning", "error", "blocker"]),
  category: z.enum(["syntax", "reference", "layout", "design", "rendering", "security", "validation", "map", "configuration"]),
  message: z.string(),
  classification: z.enum(["confirmed_error", "probable_defect", "design_warning", "unresolved_analysis"]),
  confidence: z.enum(["confirmed", "high", "medium", "low", "unresolved"]),
  location: locationSchema.optional(),
  related: z.array(locationSchema).optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});

export type OutputDiagnostic = z.infer<typeof diagnosticSchema>;
export type FileChange = z.infer<typeof fileChangeSchema>;

import { z } from "zod";

/** What the demo tells a client process to do: its one argument. The token is kept out of it, for arguments are public on a machine. */
export const clientOrderSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("start"), url: z.url(), tool: z.string(), input: z.record(z.string(), z.unknown()) }),
  z.object({ kind: z.literal("follow"), url: z.url(), taskId: z.string(), deadlineMs: z.number() }),
]);
export type ClientOrder = z.infer<typeof clientOrderSchema>;

const artifactSchema = z.object({ uri: z.string(), name: z.string(), size: z.number(), beginning: z.string() });
export type ArtifactSample = z.infer<typeof artifactSchema>;

/** What a client process reports: one of these on each line of its stdout. */
export const clientReportSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("handle"), taskId: z.string() }),
  z.object({ kind: z.literal("status"), status: z.string(), message: z.string().nullable(), fraction: z.number().nullable() }),
  z.object({ kind: z.literal("result"), result: z.unknown(), artifact: artifactSchema.nullable() }),
]);
export type ClientReport = z.infer<typeof clientReportSchema>;

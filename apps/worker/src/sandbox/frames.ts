import { artifactNameSchema, sha256Schema } from "@holdfast/core";
import { z } from "zod";

/** Bytes of artifact content in one frame, at most. */
export const CHUNK_BYTES = 256 * 1024;
/** Bytes of a message that carries no result, at most. */
export const MESSAGE_BYTES = 64 * 1024;
/** What the message around a result may add to it. */
export const RESULT_ENVELOPE_BYTES = 1024;

/** Why a running operation is asked to stop. */
export const ABORT_REASONS = ["cancelled", "drain", "timeout"] as const;
export type AbortReason = (typeof ABORT_REASONS)[number];

/** Number of the run that a frame belongs to; a child counts runs from 1, and a frame of another run is a forgery. */
const run = z.number().int().positive();

/** What crosses the boundary of an error that was thrown in a child: this, and nothing else of it. */
const errorDataSchema = z.strictObject({
  name: z.string().max(200),
  message: z.string().max(4_000),
  stack: z.string().max(8_000).nullable(),
});
export type ErrorData = z.infer<typeof errorDataSchema>;

/** From the child, which is not trusted. */
export const childFrameSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("ready") }),
  z.strictObject({
    kind: z.literal("progress"),
    run,
    value: z.number(),
    total: z.number().nullable(),
    message: z.string().max(1_000).nullable(),
  }),
  /** Announces bytes, which follow in frames of their own once the parent has admitted them. One artifact at a time. */
  z.strictObject({
    kind: z.literal("artifact"),
    run,
    name: artifactNameSchema,
    mimeType: z.string().min(1).max(255),
    title: z.string().max(1_000).nullable(),
    size: z.number().int().nonnegative(),
    sha256: sha256Schema,
  }),
  /** Not `reusable` when the operation has left something behind that may still run. */
  z.strictObject({ kind: z.literal("result"), run, reusable: z.boolean(), result: z.unknown() }),
  z.strictObject({ kind: z.literal("threw"), run, error: errorDataSchema }),
  /** The operation returned, but what it returned is too large or no JSON. */
  z.strictObject({ kind: z.literal("unanswerable"), run, detail: z.string().max(1_000) }),
  /** The child's packs hold no such operation in this version. */
  z.strictObject({ kind: z.literal("unknown"), run, detail: z.string().max(1_000) }),
]);
export type ChildFrame = z.infer<typeof childFrameSchema>;
export type ArtifactAnnouncement = Extract<ChildFrame, { kind: "artifact" }>;

/** From the parent. */
export const parentFrameSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("run"),
    run,
    operation: z.string(),
    version: z.number().int(),
    input: z.unknown(),
    workspace: z.strictObject({ id: z.string(), root: z.string(), path: z.string() }),
    limits: z.strictObject({ resultBytes: z.number(), artifactBytes: z.number() }),
  }),
  z.strictObject({ kind: z.literal("abort"), run, reason: z.enum(ABORT_REASONS) }),
  z.strictObject({ kind: z.literal("artifact.admitted"), run }),
  z.strictObject({ kind: z.literal("artifact.stored"), run }),
]);
export type ParentFrame = z.infer<typeof parentFrameSchema>;
export type RunFrame = Extract<ParentFrame, { kind: "run" }>;

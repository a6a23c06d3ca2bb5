import { artifactNameSchema, inputKeySchema, inputMethodSchema, isStorableText, sha256Schema, type TaskInput } from "@holdfast/core";
import { z } from "zod";

/** Bytes of artifact content in one frame, at most. */
export const CHUNK_BYTES = 256 * 1024;
/** Bytes of a message that carries nothing large, at most. */
export const MESSAGE_BYTES = 64 * 1024;
/** What the message around a result or a value may add to it. */
export const ENVELOPE_BYTES = 1024;
/** Bytes of one checkpoint, or of the value of one step, as JSON. */
export const VALUE_BYTES = 8 * 1024 * 1024;
/** What the steps of one task may be, and take together as JSON. */
export const MAX_STEPS = 1_000;
export const STEPS_BYTES = 32 * 1024 * 1024;
/** What one call of `context.input` may ask, and take as JSON. */
export const MAX_QUESTIONS = 64;
export const QUESTIONS_BYTES = 1024 * 1024;
/** What one plan may change: files, their bytes afterwards (and before, again), and the names of all of them as JSON. */
export const PLAN_FILES = 2_000;
export const PLAN_BYTES = 64 * 1024 * 1024;
export const PLAN_NAMES_BYTES = 4 * 1024 * 1024;

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

/** The key of a step: free text, so that it can name what the step is about. */
export const stepKeySchema = z.string().min(1).max(256).refine(isStorableText, "a key holds no NUL and no half of a surrogate pair");

const plannedFileSchema = z.strictObject({
  path: z.string().min(1).max(1_024),
  expectedSha256: sha256Schema.nullable(),
  /** Bytes that the file has afterwards; null removes it. */
  size: z.number().int().nonnegative().nullable(),
});
export type AnnouncedFile = z.infer<typeof plannedFileSchema>;

const questionsSchema = z.record(inputKeySchema, z.strictObject({ method: inputMethodSchema, params: z.record(z.string(), z.json()) }));

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
  z.strictObject({ kind: z.literal("checkpoint.save"), run, value: z.unknown() }),
  z.strictObject({ kind: z.literal("step.save"), run, key: stepKeySchema, value: z.unknown() }),
  /** Announces the bytes of all files in their order, which follow like those of an artifact. */
  z.strictObject({
    kind: z.literal("transaction"),
    run,
    result: z.unknown(),
    files: z.array(plannedFileSchema).max(PLAN_FILES),
  }),
  /** The operation cannot go on without these answers. The last thing that is heard of a run. */
  z.strictObject({ kind: z.literal("suspend"), run, requests: questionsSchema }),
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
export type PlanAnnouncement = Extract<ChildFrame, { kind: "transaction" }>;

const transactionOutcomeSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("committed") }),
  z.strictObject({ kind: z.literal("conflict"), paths: z.array(z.string()) }),
  /** Nothing was changed, and `message` says to the operation why the plan cannot be carried out. */
  z.strictObject({ kind: z.literal("rejected"), message: z.string() }),
]);

/** From the parent. */
export const parentFrameSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("run"),
    run,
    operation: z.string(),
    version: z.number().int(),
    input: z.unknown(),
    workspace: z.strictObject({ id: z.string(), root: z.string(), path: z.string(), revision: z.string() }),
    /** JSON texts: most are never looked at, and each look wants a value of its own. */
    checkpoint: z.string().nullable(),
    steps: z.array(z.strictObject({ key: z.string(), text: z.string() })),
    /** As the store has parsed them. */
    inputs: z.array(z.custom<TaskInput>()),
    limits: z.strictObject({ resultBytes: z.number(), artifactBytes: z.number() }),
  }),
  z.strictObject({ kind: z.literal("abort"), run, reason: z.enum(ABORT_REASONS) }),
  /** The bytes that were announced may come. */
  z.strictObject({ kind: z.literal("admitted"), run }),
  /** The artifact, checkpoint or value of a step is durable. */
  z.strictObject({ kind: z.literal("kept"), run }),
  z.strictObject({ kind: z.literal("transaction.ended"), run, outcome: transactionOutcomeSchema }),
]);
export type ParentFrame = z.infer<typeof parentFrameSchema>;
export type RunFrame = Extract<ParentFrame, { kind: "run" }>;
/** What a child waits for after it has asked for something. */
export type AnswerFrame = Exclude<ParentFrame, { kind: "run" | "abort" }>;

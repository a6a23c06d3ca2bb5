import type { z } from "zod";
import type { ArtifactLink } from "../artifacts/artifact-link.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { InputRequests } from "../tasks/input.ts";
import type { ToolResult } from "./tool-result.ts";

/** The platform's `AbortSignal` where its types are loaded; core, compiled without them, sees what it needs of it. */
type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Platform } }
  ? Platform
  : { readonly aborted: boolean; readonly reason: unknown };

/** What a handler may use: capabilities bound to one attempt, not services. */
export interface OperationContext {
  /** Aborted on cancellation, drain and time limit; its `reason` is an `AbortError` that names which. */
  readonly signal: Signal;
  /** Reports how far the work is. Cheap to call often: reports are merged before they are sent. Never rejects. */
  progress(report: ProgressReport): void;
  /** Stores bytes as an artifact of the workspace and answers its link. The same bytes give the same address. */
  artifact(file: ArtifactFile): Promise<ArtifactLink>;
  /** The files of the workspace, read only. */
  readonly workspace: WorkspaceView;
  /** What an attempt leaves behind so that the next one need not begin at the beginning. */
  readonly checkpoint: Checkpoint;
  /**
   * Runs `work` once for the whole task: its value is kept, and a later attempt gets it without running `work` again, as long as the
   * workspace has not changed. Keys are unique within the operation. Rejects as `work` does, and then nothing is kept.
   */
  step<Value extends JsonValue>(key: string, work: () => Promise<Value>): Promise<Value>;
  /**
   * Asks the client and answers with what it said, by key: MCP's result of each method. While an answer is missing the attempt ends
   * and its process with it; the operation is run again from its start once all are there, so that what comes before this call must
   * be cheap, or a step. A key stands for one question for the whole life of the task.
   */
  input(requests: InputRequests): Promise<Readonly<Record<string, JsonObject>>>;
  /**
   * Carries out a plan of changes, all of them or none, for operations with effect `write` and once per task. Once it is committed the
   * task has the plan's result, whatever becomes of this process. Throws when the plan names a file twice or one outside of the workspace.
   */
  transaction(plan: WritePlan): Promise<TransactionOutcome>;
}

export interface Checkpoint {
  /** The last value that was saved from the same files, or null: nothing was, the workspace has changed, or the schema refuses it. */
  load<Value>(schema: z.ZodType<Value>): Value | null;
  /** Resolves when it is durable. */
  save(value: JsonValue): Promise<void>;
}

export interface WritePlan {
  readonly files: readonly PlannedFile[];
  /** What the task answers when the plan is committed. Its artifacts must be stored before. */
  readonly result: ToolResult;
}

export interface PlannedFile {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** SHA-256 of the bytes that the plan was made from, in lower-case hexadecimal; null for a file that must not be there. */
  readonly expectedSha256: string | null;
  /** What the file holds afterwards; null removes it. */
  readonly bytes: Uint8Array | null;
}

/** `conflict`: these files are not what the plan was made from, and nothing was changed. */
export type TransactionOutcome =
  | { readonly kind: "committed"; readonly result: ToolResult }
  | { readonly kind: "conflict"; readonly paths: readonly string[] };

export interface ProgressReport {
  /** Grows from report to report; a smaller value than the last is ignored. */
  readonly value: number;
  readonly total?: number;
  /** A sentence for people. */
  readonly message?: string;
}

export interface ArtifactFile {
  readonly name: string;
  readonly mimeType: string;
  readonly title?: string;
  readonly bytes: Uint8Array;
}

/**
 * A bounded, read-only view of a workspace folder. Paths are relative, with `/`, as the file system spells them; no path
 * or link leads out of the folder.
 */
export interface WorkspaceView {
  readonly id: string;
  /** Names what all files of the view were when the attempt began: equal revisions mean equal files. */
  readonly revision: string;
  /** All files below `folder` ("" for the root) that the view may read, in code-unit order of their paths. Throws `WorkspaceError`. */
  list(folder: string): Promise<readonly WorkspaceFile[]>;
  /** The bytes of one file. Throws `WorkspaceError`. */
  read(path: string): Promise<Uint8Array>;
}

export interface WorkspaceFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

/** `missing`: not there; `unreadable`: there, but not for this process; `outside`: the path leads out of the workspace. */
export type WorkspaceErrorCode = "missing" | "unreadable" | "outside";

/** What reading a workspace can meet. Handlers turn it into a result that a person understands. */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceErrorCode;
  readonly path: string;

  constructor(code: WorkspaceErrorCode, path: string, options?: { cause?: unknown }) {
    super(`workspace path "${path}" is ${code}`, options);
    this.code = code;
    this.path = path;
  }
}

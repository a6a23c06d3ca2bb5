import type { ArtifactLink } from "../artifacts/artifact-link.ts";

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
}

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

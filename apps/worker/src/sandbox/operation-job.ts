import type { KeepAnswer, Operation, StoredArtifact, TaskInput, TaskProgress, ToolResult } from "@holdfast/core";

/** What is to be run, with whom to talk to about it. Every promise rejects when the store cannot tell. */
export interface OperationJob {
  readonly operation: Operation;
  readonly input: unknown;
  /** `root` is the folder that the worker declared under the name of the workspace's root. */
  readonly workspace: { readonly id: string; readonly root: string; readonly path: string; readonly revision: string };
  readonly left: LeftBehind;
  onProgress(progress: TaskProgress): void;
  /** Stores under the attempt's token; `refused` when that is no longer the newest. */
  storeArtifact(file: ReceivedArtifact): Promise<{ readonly kind: "stored"; readonly sha256: string } | { readonly kind: "refused" }>;
  /** Both take JSON text. */
  saveCheckpoint(text: string): Promise<KeepAnswer>;
  saveStep(key: string, text: string): Promise<KeepAnswer>;
  /** Carries out a plan whose paths and sizes have been checked. */
  transact(plan: ReceivedPlan): Promise<TransactionAnswer>;
}

/** What earlier attempts have left and may be believed. Values as JSON texts. */
export interface LeftBehind {
  readonly checkpoint: string | null;
  readonly steps: readonly { readonly key: string; readonly text: string }[];
  readonly inputs: readonly TaskInput[];
}

export interface ReceivedArtifact {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly mimeType: string;
  readonly title?: string;
}

export interface ReceivedPlan {
  readonly files: readonly ReceivedFile[];
  readonly result: ToolResult;
  /** All that the attempt has stored so far: what the result may link. */
  readonly artifacts: readonly StoredArtifact[];
}

export interface ReceivedFile {
  readonly path: string;
  readonly expectedSha256: string | null;
  readonly bytes: Uint8Array | null;
}

export type TransactionAnswer =
  | { readonly kind: "committed" }
  /** These files are not what the plan was made from; nothing was changed. */
  | { readonly kind: "conflict"; readonly paths: readonly string[] }
  /** Nothing was changed; the message is for whoever wrote the operation. */
  | { readonly kind: "rejected"; readonly message: string }
  /** Nothing was changed, and the attempt has to end: the plan's turn has not come, or it was asked to stop. */
  | { readonly kind: "postponed"; readonly detail: string }
  /** Nothing was changed: the task's owner may no longer write in the workspace. */
  | { readonly kind: "denied"; readonly detail: string }
  /** Somebody will have to look. */
  | { readonly kind: "unresolved"; readonly detail: string }
  /** The attempt is no longer ours. */
  | { readonly kind: "lost" };

import type { TaskId } from "../ids.ts";

/** What a keyed request asks to be remembered. */
export interface ReceiptRequest {
  /** A caller's name for a write, so that repeating the request returns the same task (contract 4.1): 1 to 256 storable characters. */
  readonly key: string;
  /** Of the canonical JSON of the parsed input, in lower-case hexadecimal. */
  readonly inputSha256: string;
  /** Over the principal, the workspace, the key, the operation with its version, the digest and the id of the new task. */
  readonly seal: string;
}

/** The receipt that stands: what the key was first used for. Its seal is to be checked before the task is believed. */
export interface StoredReceipt {
  readonly taskId: TaskId;
  readonly operation: string;
  readonly operationVersion: number;
  readonly inputSha256: string;
  readonly seal: string;
}

import { z } from "zod";
import type { TaskId } from "../ids.ts";
import { isStorableText } from "../json.ts";

/**
 * A caller's name for a write, so that repeating the request returns the same task (contract 4.1). Half a surrogate pair would be stored
 * as another character, and so make one key of two.
 */
export const requestKeySchema = z.string().min(1).max(256).refine(isStorableText, "holds text that cannot be stored");

/** What a keyed request asks to be remembered. */
export interface ReceiptRequest {
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

import type { TaskId, WorkerId } from "../ids.ts";

/** The attempt that presents a write: only the holder of the newest token of a task may change anything (contract 5.2). */
export interface AttemptRef {
  readonly taskId: TaskId;
  readonly token: number;
  readonly workerId: WorkerId;
}

/** An artifact that an attempt has stored, as results and plans name it. */
export interface StoredArtifact {
  readonly sha256: string;
  readonly name: string;
}

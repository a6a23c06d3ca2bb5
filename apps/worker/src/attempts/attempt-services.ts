import type {
  AttemptLedger,
  AttemptRef,
  OperationRegistry,
  Seals,
  TaskId,
  Telemetry,
  WorkerId,
  WorkerReach,
  WriteJournal,
} from "@holdfast/core";
import type { Logger } from "pino";
import type { OperationJob } from "../sandbox/operation-job.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/** What an attempt needs of its worker. */
export interface AttemptServices {
  readonly workerId: WorkerId;
  readonly leaseMs: number;
  readonly reach: WorkerReach;
  readonly operations: OperationRegistry;
  /** Folders by the name of their root. */
  readonly roots: ReadonlyMap<string, string>;
  readonly ledger: AttemptLedger;
  readonly journal: WriteJournal;
  readonly seals: Seals;
  readonly leases: LeaseKeeper;
  readonly sandbox: Sandbox;
  readonly storeArtifact: (attempt: AttemptRef, file: ArtifactFile) => ReturnType<OperationJob["storeArtifact"]>;
  /** Hints that a task has changed, after the change is durable. */
  readonly publish: (taskId: TaskId) => void;
  /** Aborted when a drain can wait no longer: attempts have `interruptionGraceMs` to end. */
  readonly interruption: AbortSignal;
  readonly interruptionGraceMs: number;
  readonly telemetry: Telemetry;
  readonly logger: Logger;
}

type ArtifactFile = Parameters<OperationJob["storeArtifact"]>[0];

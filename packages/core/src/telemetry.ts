/** What happens in Holdfast, in one typed list: the same keys on success and failure, in every process. */
export interface TelemetryEvents {
  "http.served": { requestId: string; method: string; path: string; status: number; durationMs: number };
  "task.created": { requestId: string; taskId: string; operation: string; workspaceId: string };
  "task.cancelRequested": { requestId: string; taskId: string };
  "attempt.claimed": { taskId: string; token: number; operation: string };
  "attempt.settled": { taskId: string; token: number; operation: string; outcome: string; durationMs: number };
  "attempt.lost": { taskId: string };
  /** A result became the task's without its operation being run: its own, that an earlier attempt had staged, or an identical read's. */
  "result.published": { taskId: string; token: number; operation: string; from: "staged" | "reusable" };
  /** A plan of changes ended; `recovered` when another attempt had begun it. */
  "journal.rested": { taskId: string; token: number; state: "committed" | "restored" | "unresolved"; recovered: boolean };
  /** A stored record does not carry our seal, and is not believed. */
  "seal.refused": { taskId: string; record: string };
  "lease.refused": { taskId: string; token: number };
  "lease.untrusted": { taskId: string; token: number };
  "child.spawned": { pid: number };
  "child.exited": { pid: number; code: number | null; signal: string | null; reason: string };
  "task.rewoken": { count: number };
  "task.expired": { count: number };
  "listener.up": { channel: string };
  "listener.isolated": { channel: string; reason: string };
  "process.started": { role: string; version: string; url?: string; publicUrl?: string };
  "process.draining": { role: string; signal: string };
  "process.stopped": { role: string };
}

export type TelemetryEvent = keyof TelemetryEvents;

/** Where events go; adapters turn them into log lines (and later metrics and spans). Never throws. */
export interface Telemetry {
  emit<Name extends TelemetryEvent>(name: Name, event: TelemetryEvents[Name], error?: unknown): void;
}

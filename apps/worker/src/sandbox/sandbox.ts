import { setImmediate } from "node:timers/promises";
import type { InputRequests, OperationRegistry, Operation, StoredArtifact, Telemetry, ToolResult } from "@holdfast/core";
import { createByteGate } from "./byte-gate.ts";
import { converse, type Conversation, type ConversationEnd } from "./child-conversation.ts";
import { createChildPool } from "./child-pool.ts";
import { describeEnd, type ChildProcess } from "./child-process.ts";
import type { AbortReason, ErrorData } from "./frames.ts";
import type { OperationJob } from "./operation-job.ts";
import { parseResult } from "./parse-result.ts";
import { readablePaths } from "./readable-paths.ts";

/** Runs operations in child processes, so that none can harm more than its own attempt (contract 14). */
export interface Sandbox {
  /** Resolves when the packs are loaded in a first child of every kind; rejects with the reason when they cannot be. */
  start(): Promise<void>;
  run(job: OperationJob): OperationRun;
  /** Resolves while children can be started; a worker that cannot should claim nothing. */
  whenHealthy(signal: AbortSignal): Promise<void>;
  /** Kills all children and waits for their end. */
  close(): Promise<void>;
}

export interface OperationRun {
  /** Never rejects. */
  readonly outcome: Promise<OperationOutcome>;
  /** Asks the operation to stop, and kills its process when it has not after the grace period (`ABORT_GRACE_MS` unless given). */
  abort(reason: AbortReason, graceMs?: number): void;
  /** Kills its process at once: the attempt is no longer ours. */
  kill(reason: string): void;
}

/** `output` is the end of what the child wrote for people. Details are for operators. */
export type OperationOutcome = { readonly output: string } & (
  | { readonly kind: "result"; readonly result: ToolResult; readonly artifacts: readonly StoredArtifact[] }
  | { readonly kind: "threw"; readonly error: ErrorData }
  | { readonly kind: "invalid"; readonly detail: string }
  /** No child holds this operation in the version asked for. */
  | { readonly kind: "unknown"; readonly detail: string }
  | { readonly kind: "crashed"; readonly detail: string }
  /** Stopped by our wish, whatever the operation made of it. `lost`: the attempt is no longer ours. */
  | { readonly kind: "stopped"; readonly by: AbortReason | "lost" }
  /** Waits for answers to these questions. */
  | { readonly kind: "suspended"; readonly requests: InputRequests }
  /** What the operation wanted to have kept or written could not be. */
  | { readonly kind: "storage"; readonly error: unknown }
  /** There was no child to run it in, or its write could not get its turn. */
  | { readonly kind: "unavailable"; readonly detail: string }
  /** Its owner may no longer write in the workspace. */
  | { readonly kind: "denied"; readonly detail: string }
  /** Its write was interrupted, and cannot be told any more. */
  | { readonly kind: "unresolved"; readonly detail: string }
);

/** How long an operation that was asked to stop may take for it, in milliseconds. */
export const ABORT_GRACE_MS = 2_000;
const WATCH_MEMORY_EVERY_MS = 50;
/** What a process takes beyond its JavaScript heap: code, buffers, the heap's own bookkeeping. */
const MEMORY_BESIDE_HEAP_MIB = 256;
const GATE_BYTES = 64 * 1024 * 1024;
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createSandbox(options: {
  readonly packs: readonly string[];
  /** Folders that workspaces may lie in. */
  readonly roots: readonly string[];
  readonly operations: OperationRegistry;
  readonly slots: number;
  readonly telemetry: Telemetry;
}): Sandbox {
  const { packs, roots, operations, slots, telemetry } = options;
  const pool = createChildPool({
    packs,
    readable: readablePaths({ packs, roots }),
    memoryMiB: [...operations.values()].map(({ limits }) => limits.memoryMiB),
    slots,
    telemetry,
  });
  const gate = createByteGate(GATE_BYTES);
  let runs = 0;

  function run(job: OperationJob): OperationRun {
    runs += 1;
    const { limits } = job.operation;
    let child: ChildProcess | null = null;
    let conversation: Conversation | null = null;
    let stoppedBy: AbortReason | "lost" | null = null;
    let graceTimer: NodeJS.Timeout | null = null;
    // Read through a function: the compiler does not see that it changes while we wait.
    const stopReason = (): AbortReason | "lost" | null => stoppedBy;

    function abort(reason: AbortReason, graceMs = ABORT_GRACE_MS): void {
      // A cancellation during a drain ends the task instead of handing it on.
      if (stoppedBy !== null && !(stoppedBy === "drain" && reason === "cancelled")) return;
      stoppedBy = reason;
      conversation?.abort(reason);
      graceTimer ??= setTimeout(() => child?.kill(`did not stop within ${graceMs} ms (${reason})`), graceMs);
    }

    async function execute(number: number): Promise<OperationOutcome> {
      try {
        child = await pool.acquire(limits.memoryMiB);
      } catch (error) {
        return { kind: "unavailable", detail: error instanceof Error ? error.message : String(error), output: "" };
      }
      const stoppedEarly = stopReason();
      if (stoppedEarly !== null) return giveUp(child, stoppedEarly);
      const using = child;
      const timeLimit = setTimeout(() => abort("timeout"), Math.min(limits.timeoutMs, MAX_TIMER_MS));
      const memoryWatch = setInterval(() => limitMemory(using), WATCH_MEMORY_EVERY_MS);
      conversation = converse({ child: using, run: number, job, gate });
      const end = await conversation.end;
      clearTimeout(timeLimit);
      clearInterval(memoryWatch);
      if (graceTimer !== null) clearTimeout(graceTimer);
      const stopped = stopReason();
      await unreadOutput();
      // Only a run that went well, undisturbed, leaves a process that can be trusted with the next one.
      if (end.kind === "result" && end.reusable && stopped === null) pool.release(using);
      else using.kill(`its operation ended as ${stopped ?? end.kind}`);
      return {
        ...conclude({ end, stoppedBy: stopped, operation: job.operation, artifacts: conversation.artifacts }),
        output: using.output(),
      };
    }

    function giveUp(unused: ChildProcess, by: AbortReason | "lost"): OperationOutcome {
      if (graceTimer !== null) clearTimeout(graceTimer);
      pool.release(unused);
      return { kind: "stopped", by, output: "" };
    }

    return {
      outcome: execute(runs),
      abort,
      kill(reason) {
        stoppedBy = "lost";
        child?.kill(reason);
      },
    };
  }

  return { start: pool.start, run, whenHealthy: pool.whenHealthy, close: pool.close };
}

/** What a child wrote before its answer is in a pipe of its own, which the loop may not have come to yet: lets it go round once. */
async function unreadOutput(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

function limitMemory(child: ChildProcess): void {
  const limitMiB = child.memoryMiB + MEMORY_BESIDE_HEAP_MIB;
  const resident = child.residentBytes();
  if (resident !== null && resident > limitMiB * 1024 * 1024) child.kill(`took more than ${limitMiB} MiB of memory`);
}

type Conclusion = OperationOutcome extends infer Outcome ? (Outcome extends OperationOutcome ? Omit<Outcome, "output"> : never) : never;

/** An answer stands even if it came after the wish to stop: it won the race (contract 8.3). Not so after the time limit. */
function conclude(run: {
  readonly end: ConversationEnd;
  readonly stoppedBy: AbortReason | "lost" | null;
  readonly operation: Operation;
  readonly artifacts: readonly StoredArtifact[];
}): Conclusion {
  const { end, stoppedBy, operation, artifacts } = run;
  if (end.kind === "refused") return { kind: "stopped", by: "lost" };
  const isAnswer = end.kind === "result" || end.kind === "suspended";
  if (stoppedBy !== null && (!isAnswer || stoppedBy === "timeout" || stoppedBy === "lost")) return { kind: "stopped", by: stoppedBy };
  switch (end.kind) {
    case "result": {
      const parsed = parseResult(end.result, operation);
      return parsed.kind === "result" ? { ...parsed, artifacts } : parsed;
    }
    case "threw":
      return { kind: "threw", error: end.error };
    case "unanswerable":
      return { kind: "invalid", detail: end.detail };
    case "unknown":
      return { kind: "unknown", detail: end.detail };
    case "suspended":
      return { kind: "suspended", requests: end.requests };
    case "postponed":
      return { kind: "unavailable", detail: end.detail };
    case "denied":
    case "unresolved":
      return { kind: end.kind, detail: end.detail };
    case "ended":
      return { kind: "crashed", detail: `the child process ${describeEnd(end.end)}` };
    case "storage":
      return { kind: "storage", error: end.error };
  }
}

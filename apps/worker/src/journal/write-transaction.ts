import {
  toolResultSchema,
  type ClaimedAttempt,
  type JournalEntry,
  type JournalPlan,
  type Seals,
  type StoredArtifact,
  type Telemetry,
  type ToolResult,
  type WriteJournal,
} from "@holdfast/core";
import { pause } from "@holdfast/process";
import { retryWhileUnavailable } from "../attempts/retry-while-unavailable.ts";
import type { ReceivedPlan, TransactionAnswer } from "../sandbox/operation-job.ts";
import { resolveFolder } from "../workspace/inside.ts";
import { AttemptLost, beginPlan, giveUp, surveyPlan, unlessLost, WriteDenied, type BoundPlan, type PlanEnd } from "./carry-out.ts";
import type { PlanPlace } from "./plan-place.ts";
import { preparePlan, type PreparedPlan } from "./prepare-plan.ts";
import { recoverPlan } from "./recover-plan.ts";
import { isGenuinePlan, sealPlan } from "./seal-plan.ts";

/** The writing side of one attempt. It works in this process: no child can write, and no child's end stops it. */
export interface WriteTransaction {
  /** Brings a plan of earlier attempts to rest, if there is one. Rejects when it stays open, for another attempt to take up. */
  recover(): Promise<void>;
  /** Carries out the plan of this attempt. Rejects when nobody can tell what became of it; it is open then. */
  transact(plan: ReceivedPlan): Promise<TransactionAnswer>;
  /** What the journal says of the attempt's end, once nothing moves any more. Never rejects. */
  rest(): Promise<WriteRest>;
}

/**
 * `none`: the files are as they were, and the attempt ends as it ends. `postponed`: they are, and the next attempt has the plan to make or,
 * when it is bound, to carry out. `open`: it is neither committed nor undone.
 */
export type WriteRest =
  | { readonly kind: "none" }
  | { readonly kind: "postponed"; readonly detail: string }
  | { readonly kind: "committed"; readonly result: ToolResult; readonly artifacts: readonly StoredArtifact[] }
  | { readonly kind: "unresolved" | "denied"; readonly detail: string }
  | { readonly kind: "open"; readonly error: unknown }
  | { readonly kind: "lost" };

export interface WriteTransactionOptions {
  readonly attempt: ClaimedAttempt;
  readonly journal: WriteJournal;
  readonly seals: Seals;
  /** Folder of the workspace's root. */
  readonly root: string;
  readonly isLeaseLost: () => boolean;
  /** Aborted when the attempt is asked to stop: a plan that has not begun does not begin then. */
  readonly stopping: AbortSignal;
  /** Aborted when a client wants the task cancelled. */
  readonly cancelled: AbortSignal;
  readonly telemetry: Telemetry;
  readonly onRetry: (error: unknown) => void;
  /** How long a plan waits for others below the same root, in milliseconds. */
  readonly busyMs?: number;
}

/** Short: its slot may be the one in which the other plan is to be taken up. */
const BUSY_MS = 5_000;
const WITHDRAWN = "the owner's grant to write in the workspace was withdrawn";
const ASK_AGAIN_MS = 100;
/** How often a plan is taken up again before somebody has to look at it: whatever ended its attempts would end the next one. */
const MAX_RECOVERIES = 3;
/** Before a plan that could not be recovered is left to the next attempt, which may have no other luck at once. */
const RECOVER_AGAIN_MS = 1_000;

export function createWriteTransaction(options: WriteTransactionOptions): WriteTransaction {
  const { attempt, journal, seals, root, isLeaseLost, stopping, cancelled, telemetry, onRetry, busyMs = BUSY_MS } = options;
  let resting: WriteRest = { kind: "none" };
  let underWay: Promise<unknown> = Promise.resolve();
  /** A plan of this task that was undone: there is no second one. */
  let undone: Extract<PlanEnd, { kind: "restored" }> | null = null;

  function assertHeld(): void {
    if (isLeaseLost()) throw new AttemptLost("the lease of the attempt is over");
  }

  const move: BoundPlan["move"] = async (from, to, extra = {}) => {
    assertHeld();
    const answer = await retryWhileUnavailable(() => journal.move(attempt, { from, to, ...extra }), { onRetry });
    if (answer === "denied") throw new WriteDenied(WITHDRAWN);
    if (answer === "refused") throw new AttemptLost(`the journal may not be moved to "${to}" any more`);
  };

  async function findPlace(): Promise<PlanPlace> {
    return { folder: await resolveFolder({ root, path: attempt.workspace.path }), attempt };
  }

  async function recover(): Promise<void> {
    if (attempt.journalState === null) return;
    const entry = await retryWhileUnavailable(() => journal.read(attempt), { onRetry });
    if (entry === null) throw new AttemptLost("the journal of the task is not ours to read");
    const end = await endOf(entry);
    report(end, true);
    take(end, entry);
  }

  /** What becomes of a plan that earlier attempts have left. */
  async function endOf(entry: JournalEntry): Promise<PlanEnd> {
    const { state, recoveries } = entry;
    if (state === "unresolved") return { kind: "unresolved", detail: "an earlier attempt could not decide what was written" };
    const isGenuine = isGenuinePlan(seals, attempt, entry);
    if (!isGenuine) telemetry.emit("seal.refused", { taskId: attempt.taskId, record: "journal" });
    // It is over whoever has made it, and cannot be anything else any more.
    if (state === "restored") return { kind: "restored", paths: isGenuine ? await changedSince(entry) : [], cause: null };
    if (!isGenuine) return await giveUp({ move }, state, "the plan does not carry our seal");
    if (state === "committed") return { kind: "committed" };
    if (recoveries >= MAX_RECOVERIES)
      return await giveUp({ move }, state, `${recoveries} attempts have taken up the plan, and none has ended it`);
    await move([state], state, { recovered: true });
    try {
      const plan: BoundPlan = { place: await findPlace(), files: entry.files, move, assertHeld };
      return await unlessLost(plan, () => recoverPlan(plan, { state, cancelRequested: attempt.cancelRequested }));
    } catch (error) {
      if (!(error instanceof AttemptLost)) await pause(RECOVER_AGAIN_MS, stopping);
      throw error;
    }
  }

  async function changedSince({ files }: JournalEntry): Promise<readonly string[]> {
    const standings = await surveyPlan({ place: await findPlace(), files });
    return files.filter((_, position) => standings[position] !== "before").map(({ path }) => path);
  }

  async function carryOut(wanted: ReceivedPlan): Promise<TransactionAnswer> {
    if (undone !== null) return answerOf(undone);
    const prepared = await prepare(wanted);
    if (prepared.kind !== "prepared") return prepared;
    const { place } = prepared;
    const { result, artifacts } = wanted;
    // A plan that changes nothing is done, and needs no journal to be done again.
    if (prepared.files.length === 0) {
      resting = { kind: "committed", result, artifacts };
      return { kind: "committed" };
    }
    const plan = sealPlan(seals, attempt, { files: prepared.files, resultText: JSON.stringify(result), artifacts });
    const refusal = await bind(plan);
    if (refusal !== null) return refusal;
    const bound: BoundPlan = { place, files: plan.files, move, assertHeld };
    if (stopping.aborted && !cancelled.aborted)
      // Undone, it could not be made again.
      return postpone("the attempt was asked to stop before its plan began, which the next one carries out");
    const end = await unlessLost(bound, () => (cancelled.aborted ? withdraw() : beginPlan(bound)));
    report(end, false);
    take(end, plan);
    if (end.kind === "restored" && cancelled.aborted) return { kind: "postponed", detail: "the task was cancelled before its plan began" };
    return answerOf(end);
  }

  /** Nothing is bound yet: what goes wrong here is for the operation to know. */
  async function prepare({
    files,
  }: ReceivedPlan): Promise<(PreparedPlan & { readonly place: PlanPlace }) | Exclude<PreparedPlan, { kind: "prepared" }>> {
    try {
      const place = await findPlace();
      const prepared = await preparePlan(place, files);
      return prepared.kind === "prepared" ? { ...prepared, place } : prepared;
    } catch (error) {
      return { kind: "rejected", message: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Null when the plan is bound. */
  async function bind(plan: JournalPlan): Promise<TransactionAnswer | null> {
    const deadline = performance.now() + busyMs;
    for (;;) {
      assertHeld();
      const answer = await retryWhileUnavailable(() => journal.bind(attempt, plan), { onRetry });
      if (answer === "bound") return null;
      if (answer === "refused") return { kind: "lost" };
      if (answer === "denied") return { kind: "denied", detail: WITHDRAWN };
      const detail = `another plan is being carried out below the root "${attempt.workspace.root}"`;
      if (stopping.aborted || performance.now() > deadline) return postpone(detail);
      await pause(ASK_AGAIN_MS * (0.5 + Math.random()), stopping);
    }
  }

  /** Whatever else happens to the attempt: its task must not pay for a plan of somebody else, nor for the drain of its worker. */
  function postpone(detail: string): TransactionAnswer {
    resting = { kind: "postponed", detail };
    return { kind: "postponed", detail };
  }

  async function withdraw(): Promise<PlanEnd> {
    await move(["planned", "restored"], "restored", { detail: "the task was cancelled" });
    return { kind: "restored", paths: [], cause: null };
  }

  function take(end: PlanEnd, { resultText, artifacts }: Pick<JournalPlan, "resultText" | "artifacts">): void {
    if (end.kind === "restored") undone = end;
    else if (end.kind === "unresolved" || end.kind === "denied") resting = end;
    else resting = { kind: "committed", result: toolResultSchema.parse(JSON.parse(resultText)), artifacts };
  }

  function report(end: PlanEnd, recovered: boolean): void {
    const { taskId, token } = attempt;
    telemetry.emit("journal.rested", { taskId, token, state: end.kind === "denied" ? "restored" : end.kind, recovered });
  }

  /** What cannot be finished stays in the journal, for the attempt that takes over. */
  function keepOpen(error: unknown): never {
    resting = error instanceof AttemptLost ? { kind: "lost" } : { kind: "open", error };
    throw error;
  }

  function run<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = underWay.then(work).catch(keepOpen);
    underWay = done.catch(() => undefined);
    return done;
  }

  return {
    recover: () => run(recover),
    transact: (plan) =>
      run(() => carryOut(plan)).catch((error: unknown) => {
        if (error instanceof AttemptLost) return { kind: "lost" };
        throw error;
      }),
    async rest() {
      await underWay;
      return resting;
    },
  };
}

function answerOf(end: PlanEnd): TransactionAnswer {
  switch (end.kind) {
    case "committed":
    case "unresolved":
    case "denied":
      return end;
    case "restored":
      if (end.paths.length > 0) return { kind: "conflict", paths: end.paths };
      return {
        kind: "rejected",
        message: end.cause instanceof Error ? end.cause.message : "an earlier attempt of the task has undone its plan",
      };
  }
}

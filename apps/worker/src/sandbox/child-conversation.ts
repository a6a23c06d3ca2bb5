import type { InputRequests, KeepAnswer, StoredArtifact } from "@holdfast/core";
import type { ByteGate } from "./byte-gate.ts";
import { receiveBytes, type ByteTransfer } from "./byte-transfer.ts";
import { ChildViolation, type ChildEnd, type ChildProcess } from "./child-process.ts";
import { createFrameLimits } from "./frame-limits.ts";
import type { AbortReason, ArtifactAnnouncement, ChildFrame, PlanAnnouncement } from "./frames.ts";
import type { OperationJob, TransactionAnswer } from "./operation-job.ts";
import { parseResult } from "./parse-result.ts";
import { faultOfPlan } from "./plan-paths.ts";
import { faultOfQuestion, newKeys } from "./questions.ts";

/** How a conversation ended: with the child's answer, with its end, or with a store that could not keep what it was given. */
export type ConversationEnd =
  | Extract<ChildFrame, { kind: "result" | "threw" | "unanswerable" | "unknown" }>
  /** The operation waits for answers to these questions. */
  | { readonly kind: "suspended"; readonly requests: InputRequests }
  | { readonly kind: "ended"; readonly end: ChildEnd }
  | { readonly kind: "storage"; readonly error: unknown }
  /** What the operation wanted to write has to wait, is not allowed, or cannot be told any more: the run is over either way. */
  | { readonly kind: "postponed" | "denied" | "unresolved"; readonly detail: string }
  | { readonly kind: "refused" };

export interface Conversation {
  /** Never rejects. */
  readonly end: Promise<ConversationEnd>;
  readonly artifacts: readonly StoredArtifact[];
  abort(reason: AbortReason): void;
}

/**
 * One run of one operation in a child. The child is not trusted: what it sends is counted, and must come in the order
 * that the protocol allows, or the child is killed. It speaks for one run at a time, so no other attempt can be harmed.
 */
export function converse(options: {
  readonly child: ChildProcess;
  readonly run: number;
  readonly job: OperationJob;
  readonly gate: ByteGate;
}): Conversation {
  const { child, run, job, gate } = options;
  const { operation, left } = job;
  const end = Promise.withResolvers<ConversationEnd>();
  const artifacts: StoredArtifact[] = [];
  const limits = createFrameLimits(operation, left);
  let isOver = false;
  /** What the child waits for: one matter at a time. */
  let matter: ChildFrame["kind"] | null = null;
  let transfer: ByteTransfer | null = null;

  function finish(conclusion: ConversationEnd): void {
    if (isOver) return;
    isOver = true;
    child.listen(null);
    endTransfer();
    end.resolve(conclusion);
  }

  function fail(error: unknown): void {
    finish({ kind: "storage", error });
  }

  function endTransfer(): void {
    transfer?.end();
    transfer = null;
  }

  function receive(frame: ChildFrame, bytes: number): void {
    if (frame.kind === "ready") throw new ChildViolation("it was ready twice");
    if (frame.run !== run) throw new ChildViolation(`it spoke of run ${frame.run} in run ${run}`);
    limits.count(frame, bytes);
    if (frame.kind === "progress") return job.onProgress({ value: frame.value, total: frame.total, message: frame.message });
    if (matter !== null) throw new ChildViolation(`it sent "${frame.kind}" in the middle of "${matter}"`);
    switch (frame.kind) {
      case "artifact":
        return takeArtifact(frame);
      case "checkpoint.save":
        return keep(frame.kind, job.saveCheckpoint(JSON.stringify(frame.value)));
      case "step.save":
        return keep(frame.kind, job.saveStep(frame.key, JSON.stringify(frame.value)));
      case "transaction":
        return takePlan(frame);
      case "suspend":
        return suspend(frame.requests);
      case "result":
      case "threw":
      case "unanswerable":
      case "unknown":
        return finish(frame);
    }
  }

  /** Answers when the store has answered, unless the run is over by then. */
  function settleMatter<Answer>(answer: Promise<Answer>, use: (answer: Answer) => void): void {
    answer.then((given) => {
      if (isOver) return;
      endTransfer();
      matter = null;
      use(given);
    }, fail);
  }

  function keep(kind: "checkpoint.save" | "step.save", answer: Promise<KeepAnswer>): void {
    matter = kind;
    settleMatter(answer, (given) => {
      if (given === "refused") finish({ kind: "refused" });
      else child.send({ kind: "kept", run });
    });
  }

  function receiveMatter(size: number, onComplete: (bytes: Buffer) => void): void {
    transfer = receiveBytes({ size, gate, onAdmitted: () => child.send({ kind: "admitted", run }), onComplete, onError: fail });
  }

  function takeArtifact({ name, mimeType, title, sha256, size }: ArtifactAnnouncement): void {
    matter = "artifact";
    receiveMatter(size, (bytes) => {
      const stored = job.storeArtifact({ bytes, name, mimeType, ...(title === null ? {} : { title }) });
      settleMatter(stored, (answer) => {
        if (answer.kind === "refused") return finish({ kind: "refused" });
        if (answer.sha256 !== sha256) return child.kill(`sent other bytes than the artifact ${sha256} has`);
        artifacts.push({ sha256, name });
        child.send({ kind: "kept", run });
      });
    });
  }

  function takePlan({ files, result }: PlanAnnouncement): void {
    if (operation.effect !== "write") throw new ChildViolation("it wants to write for an operation that only reads");
    const fault = faultOfPlan(files);
    if (fault !== null) throw new ChildViolation(fault);
    matter = "transaction";
    const size = files.reduce((sum, file) => sum + (file.size ?? 0), 0);
    receiveMatter(size, (bytes) => {
      const parsed = parseResult(result, operation);
      const answer: Promise<TransactionAnswer> =
        parsed.kind === "invalid"
          ? Promise.resolve({ kind: "rejected", message: `its result cannot be delivered: ${parsed.detail}` })
          : job.transact({ files: divide(bytes, files), result: parsed.result, artifacts: [...artifacts] });
      settleMatter(answer, answerPlan);
    });
  }

  function answerPlan(answer: TransactionAnswer): void {
    switch (answer.kind) {
      case "committed":
      case "rejected":
        return child.send({ kind: "transaction.ended", run, outcome: answer });
      case "conflict":
        return child.send({ kind: "transaction.ended", run, outcome: { kind: "conflict", paths: [...answer.paths] } });
      case "postponed":
      case "denied":
      case "unresolved":
        return finish(answer);
      case "lost":
        return finish({ kind: "refused" });
    }
  }

  function suspend(requests: InputRequests): void {
    const keys = Object.keys(requests);
    if (keys.length === 0 || newKeys(requests, left.inputs).length < keys.length) throw new ChildViolation("it waits for nothing new");
    for (const question of Object.values(requests)) {
      const fault = faultOfQuestion(question, operation.asks);
      if (fault !== null) throw new ChildViolation(`its question ${fault}`);
    }
    finish({ kind: "suspended", requests });
  }

  child.listen({
    maxBytes: (kind) => (kind === "json" ? limits.frameBytes : (transfer?.maxPieceBytes ?? 0)),
    onFrame: receive,
    onBytes(bytes) {
      if (transfer === null) throw new ChildViolation("it sent bytes that nobody admitted");
      transfer.take(bytes);
    },
  });
  child.ended.then((ended) => finish({ kind: "ended", end: ended }), fail);
  child.send({
    kind: "run",
    run,
    operation: operation.name,
    version: operation.version,
    input: job.input,
    workspace: job.workspace,
    checkpoint: left.checkpoint,
    steps: [...left.steps],
    inputs: [...left.inputs],
    limits: { resultBytes: operation.limits.resultBytes, artifactBytes: operation.limits.artifactBytes },
  });

  return { end: end.promise, artifacts, abort: (reason) => child.send({ kind: "abort", run, reason }) };
}

/** The bytes of each file: they came one after the other. */
function divide(
  bytes: Buffer,
  files: PlanAnnouncement["files"],
): readonly { path: string; expectedSha256: string | null; bytes: Buffer | null }[] {
  let at = 0;
  return files.map(({ path, expectedSha256, size }) => {
    const start = at;
    at += size ?? 0;
    return { path, expectedSha256, bytes: size === null ? null : bytes.subarray(start, at) };
  });
}

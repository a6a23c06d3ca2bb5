import type { Operation, StoredArtifact, TaskProgress } from "@holdfast/core";
import type { ByteGate } from "./byte-gate.ts";
import { ChildViolation, type ChildEnd, type ChildProcess } from "./child-process.ts";
import {
  CHUNK_BYTES,
  MESSAGE_BYTES,
  RESULT_ENVELOPE_BYTES,
  type AbortReason,
  type ArtifactAnnouncement,
  type ChildFrame,
} from "./frames.ts";

/** What is to be run, with whom to talk to about it. */
export interface OperationJob {
  readonly operation: Operation;
  readonly input: unknown;
  /** `root` is the folder that the worker declared under the name of the workspace's root. */
  readonly workspace: { readonly id: string; readonly root: string; readonly path: string };
  onProgress(progress: TaskProgress): void;
  /** Stores under the attempt's token; `refused` when that is no longer the newest. Rejects when it cannot tell. */
  storeArtifact(file: ReceivedArtifact): Promise<{ readonly kind: "stored"; readonly sha256: string } | { readonly kind: "refused" }>;
}

export interface ReceivedArtifact {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly mimeType: string;
  readonly title?: string;
}

/** How a conversation ended: with the child's answer, with its end, or with a store that did not take an artifact. */
export type ConversationEnd =
  | Extract<ChildFrame, { kind: "result" | "threw" | "unanswerable" | "unknown" }>
  | { readonly kind: "ended"; readonly end: ChildEnd }
  | { readonly kind: "storage"; readonly error: unknown }
  | { readonly kind: "refused" };

export interface Conversation {
  /** Never rejects. */
  readonly end: Promise<ConversationEnd>;
  readonly artifacts: readonly StoredArtifact[];
  abort(reason: AbortReason): void;
}

interface Transfer {
  readonly announced: ArtifactAnnouncement;
  readonly chunks: Buffer[];
  receivedBytes: number;
  /** Null until the gate lets it in. */
  leaveGate: (() => void) | null;
}

/** Messages that are no results may amount to this, and more the longer an operation may take. */
const CHATTER_BYTES = 1024 * 1024;
const CHATTER_BYTES_PER_SECOND = 4 * 1024;

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
  const { operation } = job;
  const { limits } = operation;
  const end = Promise.withResolvers<ConversationEnd>();
  const artifacts: StoredArtifact[] = [];
  let isOver = false;
  let transfer: Transfer | null = null;
  let artifactBytesLeft = limits.artifactBytes;
  let messageBytesLeft = limits.resultBytes + CHATTER_BYTES + (limits.timeoutMs / 1_000) * CHATTER_BYTES_PER_SECOND;

  function finish(conclusion: ConversationEnd): void {
    if (isOver) return;
    isOver = true;
    child.listen(null);
    transfer?.leaveGate?.();
    transfer = null;
    end.resolve(conclusion);
  }

  function receive(frame: ChildFrame, bytes: number): void {
    messageBytesLeft -= bytes;
    if (messageBytesLeft < 0) throw new ChildViolation("it sent more messages than its operation may");
    if (frame.kind === "ready") throw new ChildViolation("it was ready twice");
    if (frame.run !== run) throw new ChildViolation(`it spoke of run ${frame.run} in run ${run}`);
    if (frame.kind === "progress") return job.onProgress({ value: frame.value, total: frame.total, message: frame.message });
    if (transfer !== null) throw new ChildViolation(`it sent "${frame.kind}" in the middle of an artifact`);
    if (frame.kind === "artifact") return announce(frame);
    return finish(frame);
  }

  function announce(announced: ArtifactAnnouncement): void {
    if (announced.size > artifactBytesLeft)
      throw new ChildViolation(`it announced ${announced.size} bytes of artifact where ${artifactBytesLeft} are left`);
    artifactBytesLeft -= announced.size;
    const opened: Transfer = { announced, chunks: [], receivedBytes: 0, leaveGate: null };
    transfer = opened;
    gate.enter(announced.size).then((leave) => {
      if (isOver) return leave();
      opened.leaveGate = leave;
      child.send({ kind: "artifact.admitted", run });
      if (announced.size === 0) store(opened);
    }, fail);
  }

  function receiveBytes(bytes: Buffer): void {
    if (transfer === null || transfer.leaveGate === null) throw new ChildViolation("it sent bytes that nobody admitted");
    transfer.receivedBytes += bytes.length;
    if (bytes.length === 0 || transfer.receivedBytes > transfer.announced.size)
      throw new ChildViolation("it sent other bytes than it announced");
    transfer.chunks.push(bytes);
    if (transfer.receivedBytes === transfer.announced.size) store(transfer);
  }

  function store(complete: Transfer): void {
    const { name, mimeType, title, sha256 } = complete.announced;
    const bytes = Buffer.concat(complete.chunks);
    complete.chunks.length = 0;
    job.storeArtifact({ bytes, name, mimeType, ...(title === null ? {} : { title }) }).then((answer) => {
      if (isOver) return;
      if (answer.kind === "refused") return finish({ kind: "refused" });
      if (answer.sha256 !== sha256) return child.kill(`sent other bytes than the artifact ${sha256} has`);
      complete.leaveGate?.();
      transfer = null;
      artifacts.push({ sha256, name });
      child.send({ kind: "artifact.stored", run });
    }, fail);
  }

  function fail(error: unknown): void {
    finish({ kind: "storage", error });
  }

  child.listen({
    maxBytes(kind) {
      if (kind === "json") return Math.max(MESSAGE_BYTES, limits.resultBytes + RESULT_ENVELOPE_BYTES);
      return transfer?.leaveGate == null ? 0 : CHUNK_BYTES;
    },
    onFrame: receive,
    onBytes: receiveBytes,
  });
  child.ended.then((ended) => finish({ kind: "ended", end: ended }), fail);
  child.send({
    kind: "run",
    run,
    operation: operation.name,
    version: operation.version,
    input: job.input,
    workspace: job.workspace,
    limits: { resultBytes: limits.resultBytes, artifactBytes: limits.artifactBytes },
  });

  return { end: end.promise, artifacts, abort: (reason) => child.send({ kind: "abort", run, reason }) };
}

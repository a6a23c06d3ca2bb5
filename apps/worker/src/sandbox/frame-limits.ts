import type { Operation } from "@holdfast/core";
import { ChildViolation } from "./child-process.ts";
import {
  ENVELOPE_BYTES,
  MAX_STEPS,
  MESSAGE_BYTES,
  PLAN_NAMES_BYTES,
  QUESTIONS_BYTES,
  STEPS_BYTES,
  VALUE_BYTES,
  type ChildFrame,
} from "./frames.ts";
import type { LeftBehind } from "./operation-job.ts";

/** What one run may say, one message at a time and altogether. */
export interface FrameLimits {
  /** No message may be larger. */
  readonly frameBytes: number;
  /** Throws `ChildViolation` when a message is more than what is left for its kind. */
  count(frame: ChildFrame, bytes: number): void;
}

/** Messages that nobody answers may amount to this, and more the longer an operation may take. */
const CHATTER_BYTES = 1024 * 1024;
const CHATTER_BYTES_PER_SECOND = 4 * 1024;

export function createFrameLimits({ limits }: Pick<Operation, "limits">, left: LeftBehind): FrameLimits {
  const resultFrameBytes = limits.resultBytes + ENVELOPE_BYTES;
  const most: Readonly<Record<ChildFrame["kind"], number>> = {
    ready: MESSAGE_BYTES,
    progress: MESSAGE_BYTES,
    artifact: MESSAGE_BYTES,
    threw: MESSAGE_BYTES,
    unanswerable: MESSAGE_BYTES,
    unknown: MESSAGE_BYTES,
    result: resultFrameBytes,
    suspend: QUESTIONS_BYTES,
    "checkpoint.save": VALUE_BYTES + ENVELOPE_BYTES,
    "step.save": VALUE_BYTES + ENVELOPE_BYTES,
    transaction: resultFrameBytes + PLAN_NAMES_BYTES,
  };
  let chatterBytesLeft = limits.resultBytes + CHATTER_BYTES + (limits.timeoutMs / 1_000) * CHATTER_BYTES_PER_SECOND;
  let artifactBytesLeft = limits.artifactBytes;
  let stepBytesLeft = STEPS_BYTES + MAX_STEPS * ENVELOPE_BYTES - left.steps.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  let stepsLeft = MAX_STEPS - left.steps.length;

  return {
    frameBytes: Math.max(...Object.values(most)),
    count(frame, bytes) {
      if (bytes > most[frame.kind]) throw new ChildViolation(`it sent ${bytes} bytes of "${frame.kind}", more than ${most[frame.kind]}`);
      // The next one comes after the last one was answered, which takes its time.
      if (frame.kind === "checkpoint.save" || frame.kind === "transaction") return;
      if (frame.kind === "step.save") {
        stepBytesLeft -= bytes;
        stepsLeft -= 1;
        if (stepBytesLeft < 0 || stepsLeft < 0) throw new ChildViolation("it keeps more steps than a task may have");
        return;
      }
      if (frame.kind === "artifact") {
        if (frame.size > artifactBytesLeft)
          throw new ChildViolation(`it announced ${frame.size} bytes of artifact where ${artifactBytesLeft} are left`);
        artifactBytesLeft -= frame.size;
      }
      chatterBytesLeft -= bytes;
      if (chatterBytesLeft < 0) throw new ChildViolation("it sent more messages than its operation may");
    },
  };
}

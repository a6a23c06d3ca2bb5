import type { ByteGate } from "./byte-gate.ts";
import { ChildViolation } from "./child-process.ts";
import { CHUNK_BYTES } from "./frames.ts";

/** Bytes that a child has announced, and sends in pieces once the gate has let them in. */
export interface ByteTransfer {
  /** What the next frame of bytes may hold: nothing before they are admitted. */
  readonly maxPieceBytes: number;
  /** Throws `ChildViolation` for bytes that were not announced or not admitted. */
  take(piece: Buffer): void;
  /** Gives up what is missing, and the place behind the gate, which is kept until then. */
  end(): void;
}

export function receiveBytes(options: {
  readonly size: number;
  readonly gate: ByteGate;
  readonly onAdmitted: () => void;
  /** All of them, once. */
  readonly onComplete: (bytes: Buffer) => void;
  readonly onError: (error: unknown) => void;
}): ByteTransfer {
  const { size, gate, onAdmitted, onComplete, onError } = options;
  let pieces: Buffer[] = [];
  let receivedBytes = 0;
  let leaveGate: (() => void) | null = null;
  let isOver = false;

  function complete(): void {
    const bytes = Buffer.concat(pieces, receivedBytes);
    pieces = [];
    onComplete(bytes);
  }

  gate.enter(size).then((leave) => {
    if (isOver) return leave();
    leaveGate = leave;
    onAdmitted();
    if (size === 0) complete();
  }, onError);

  return {
    get maxPieceBytes() {
      return leaveGate === null ? 0 : CHUNK_BYTES;
    },
    take(piece) {
      if (leaveGate === null) throw new ChildViolation("it sent bytes that nobody admitted");
      receivedBytes += piece.length;
      if (piece.length === 0 || receivedBytes > size) throw new ChildViolation("it sent other bytes than it announced");
      pieces.push(piece);
      if (receivedBytes === size) complete();
    },
    end() {
      isOver = true;
      leaveGate?.();
      pieces = [];
    },
  };
}

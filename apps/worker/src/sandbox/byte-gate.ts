/** Bounds how much the worker holds in memory for all children together. */
export interface ByteGate {
  /** Waits for its turn, first come, first served, and answers the function that gives the bytes back. */
  enter(bytes: number): Promise<() => void>;
}

/** Something larger than the whole gate passes when nothing else is inside. */
export function createByteGate(maxBytes: number): ByteGate {
  const waiting: { readonly bytes: number; readonly admit: () => void }[] = [];
  let insideBytes = 0;

  function admitNext(): void {
    for (let next = waiting[0]; next !== undefined && (insideBytes === 0 || insideBytes + next.bytes <= maxBytes); next = waiting[0]) {
      waiting.shift();
      insideBytes += next.bytes;
      next.admit();
    }
  }

  return {
    enter(bytes) {
      return new Promise((resolve) => {
        let isInside = true;
        const leave = () => {
          if (!isInside) return;
          isInside = false;
          insideBytes -= bytes;
          admitNext();
        };
        waiting.push({ bytes, admit: () => resolve(leave) });
        admitNext();
      });
    },
  };
}

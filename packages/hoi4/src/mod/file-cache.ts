/**
 * What was made of files, kept from one call to the next in a process that serves several: by the bytes they were made of, so that it is
 * right whatever workspace, revision or operation asks. Bounded by an estimate of its memory.
 */
export interface FileCache<Value> {
  /** Begins a pass over the files of one call. */
  open(options?: { readonly refresh?: boolean }): CachePass<Value>;
  /** Estimated bytes of everything that is kept. */
  readonly bytes: number;
}

export interface CachePass<Value> {
  /** What was kept under the key, or undefined; always that when the pass refreshes. */
  get(key: string): Value | undefined;
  /** Keeps a value of about so many bytes, if there is room beside what this pass has used itself. */
  put(key: string, value: Value, bytes: number): void;
}

interface Kept<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** The last one that used it. */
  pass: number;
}

/** What no pass has used for the longest time goes first. What the running pass has used stays. */
export function createFileCache<Value>({ maxBytes }: { readonly maxBytes: number }): FileCache<Value> {
  const kept = new Map<string, Kept<Value>>();
  let bytes = 0;
  let passes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  return {
    get bytes() {
      return bytes;
    },
    open({ refresh = false } = {}) {
      passes += 1;
      const pass = passes;
      let candidates: string[] | null = null;
      const makeRoom = (needed: number): boolean => {
        if (bytes + needed <= maxBytes) return true;
        if (needed > maxBytes) return false;
        candidates ??= inOrderOfUse(kept);
        while (bytes + needed > maxBytes) {
          const key = candidates.pop();
          if (key === undefined) return false;
          if (kept.get(key)?.pass !== pass) drop(key);
        }
        return true;
      };
      return {
        get(key) {
          const entry = kept.get(key);
          if (entry === undefined || refresh) return undefined;
          entry.pass = pass;
          return entry.value;
        },
        put(key, value, size) {
          drop(key);
          if (!makeRoom(size)) return;
          kept.set(key, { value, bytes: size, pass });
          bytes += size;
        },
      };
    },
  };
}

/**
 * The one to drop first comes last. Of those that one pass has used, that is the latest: passes go through a mod in the same order, and
 * the earliest are the ones that this pass asks for next.
 */
function inOrderOfUse<Value>(kept: ReadonlyMap<string, Kept<Value>>): string[] {
  return [...kept].toSorted(([, a], [, b]) => b.pass - a.pass).map(([key]) => key);
}

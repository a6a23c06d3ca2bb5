import { pause, within } from "@holdfast/process";
import { describeExit, type Child } from "./child.ts";

export interface SuperviseOptions {
  readonly name: string;
  /** Called for every start, so that a later one sees what has changed since. */
  readonly start: () => Child;
  /** Receives a sentence whenever something happened that nobody asked for. */
  readonly note: (line: string) => void;
  readonly readyWithinMs?: number;
  readonly graceMs?: number;
  readonly backoff?: Backoff;
}

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A child that lived this long had no trouble starting: the next wait is the first one again. */
  readonly steadyMs: number;
}

/** A child that is started again whenever it dies, until `stop`. */
export interface Supervised {
  /** Resolves when another one serves; the present one then drains. Rejects, and keeps the present one, when no other one serves. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

const usualBackoff: Backoff = { firstMs: 500, longestMs: 30_000, steadyMs: 60_000 };

/**
 * Keeps one child alive. The first start is not supervised: it rejects with `ChildFailed`, because what is wrong at once is wrong with the
 * configuration and would be wrong again.
 */
export async function supervise(options: SuperviseOptions): Promise<Supervised> {
  const { name, start, note, readyWithinMs = 60_000, graceMs = 30_000, backoff = usualBackoff } = options;
  const stopping = new AbortController();
  let waitMs = backoff.firstMs;
  let present = await startReady();
  let watching = watch(present);
  /** Ends when the last replacement and the drain that followed it are over. */
  let replacing: Promise<unknown> = Promise.resolve();

  async function startReady(): Promise<Child> {
    const child = start();
    try {
      await child.ready(readyWithinMs);
      return child;
    } catch (error) {
      await child.kill();
      throw error;
    }
  }

  async function watch(child: Child): Promise<void> {
    const since = Date.now();
    const exit = await child.exit;
    if (isSuperseded(child)) return;
    if (Date.now() - since >= backoff.steadyMs) waitMs = backoff.firstMs;
    const complaint = child.complaint();
    note(`${name} ended (${describeExit(exit)})${complaint === "" ? "" : `: ${complaint}`}; starting another one in ${waitMs / 1000} s`);
    await succeed(child);
  }

  /** Tries until another child serves in place of the dead one, or somebody else has seen to it. */
  async function succeed(dead: Child): Promise<void> {
    for (;;) {
      await pause(waitMs, stopping.signal);
      waitMs = Math.min(waitMs * 2, backoff.longestMs);
      if (isSuperseded(dead)) return;
      try {
        const successor = await startReady();
        if (isSuperseded(dead)) await successor.stop(graceMs);
        else adopt(successor);
        return;
      } catch (error) {
        note(`${error instanceof Error ? error.message : String(error)}; trying again in ${waitMs / 1000} s`);
      }
    }
  }

  function isSuperseded(child: Child): boolean {
    return stopping.signal.aborted || child !== present;
  }

  function adopt(child: Child): void {
    present = child;
    watching = watch(child);
  }

  return {
    replace: async () => {
      // One after the other: two at once would both take the same predecessor.
      const successor = replacing.then(async () => (stopping.signal.aborted ? present : await startReady()));
      const drained = successor.then(async (child) => {
        const predecessor = present;
        if (child === predecessor) return;
        adopt(child);
        await predecessor.stop(graceMs);
      });
      replacing = drained.catch(() => undefined);
      await successor;
    },
    stop: async () => {
      stopping.abort();
      await replacing;
      await present.stop(graceMs);
      await within(graceMs, watching);
    },
  };
}

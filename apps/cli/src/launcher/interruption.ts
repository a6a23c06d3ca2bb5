/** A person's or a supervisor's wish that this process ends. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Name of the signal that came; null while none did. */
  received(): NodeJS.Signals | null;
  /** Gives the signals back to Node, which ends the process at the next one. */
  release(): void;
}

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Whatever starts us may pass on a Ctrl+C that the terminal has sent us already: one wish, not two. */
const sameWishMs = 500;

/** From now on the first signal is a wish to end in order; a later one ends the process at once. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let first: { name: NodeJS.Signals; at: number } | null = null;
  const onSignal = (name: NodeJS.Signals): void => {
    if (first === null) {
      first = { name, at: Date.now() };
      controller.abort(new Error(`interrupted by ${name}`));
    } else if (Date.now() - first.at > sameWishMs) {
      // The processes that we started notice that we are gone, and drain.
      process.exit(exitCodeOf(first.name));
    }
  };
  for (const name of endingSignals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    received: () => first?.name ?? null,
    release: () => {
      for (const name of endingSignals) process.off(name, onSignal);
    },
  };
}

/** As a shell reports a process that the signal ended. */
export function exitCodeOf(name: NodeJS.Signals): number {
  return 128 + ({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[name as string] ?? 0);
}

/** Resolves when somebody wants this process to end. */
export async function untilInterrupted({ signal }: Interruption): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  signal.addEventListener("abort", () => resolve(undefined), { once: true });
  await promise;
}

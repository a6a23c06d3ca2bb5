/** Collects what should be worked on soon, so that many wishes become one piece of work. */
export interface Coalescer<Item> {
  add(item: Item): void;
  stop(): void;
}

/** Runs at once for the first wish, and then at most every `everyMs` for all that came in between. */
export function createCoalescer<Item>(options: {
  readonly everyMs: number;
  readonly run: (items: ReadonlySet<Item>) => void;
}): Coalescer<Item> {
  const { everyMs, run } = options;
  let waiting = new Set<Item>();
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;

  function flush(): void {
    if (waiting.size === 0) return;
    const items = waiting;
    waiting = new Set();
    timer = setTimeout(() => {
      timer = null;
      flush();
    }, everyMs);
    run(items);
  }

  return {
    add(item) {
      if (isStopped) return;
      waiting.add(item);
      if (timer === null) flush();
    },
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

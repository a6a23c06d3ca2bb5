import { AppError, type Principal } from "@holdfast/core";

export interface ListenLimits {
  /** Streams of the node. */
  readonly streams: number;
  readonly streamsOfPrincipal: number;
  /** Tasks of all streams together. */
  readonly tasks: number;
  readonly tasksOfPrincipal: number;
}

export const LISTEN_LIMITS: ListenLimits = { streams: 10_000, streamsOfPrincipal: 500, tasks: 50_000, tasksOfPrincipal: 5_000 };

/** How many streams a node holds, for everybody and for each. */
export interface Places {
  /** Takes a place at once, before anything is awaited, or many would pass together. Throws `AppError` "overloaded". */
  enter(principal: Principal, tasks: number): Disposable;
}

export function createPlaces(limits: ListenLimits): Places {
  const ofPrincipal = new Map<string, Taken>();
  const taken: Taken = { streams: 0, tasks: 0 };
  return {
    enter: ({ issuer, subject }, tasks) => {
      const name = JSON.stringify([issuer, subject]);
      const own = ofPrincipal.get(name) ?? { streams: 0, tasks: 0 };
      if (taken.streams >= limits.streams) throw new AppError("overloaded", `${taken.streams} streams are open`);
      if (own.streams >= limits.streamsOfPrincipal) throw new AppError("overloaded", `one principal has ${own.streams} open streams`);
      if (taken.tasks + tasks > limits.tasks) throw new AppError("overloaded", `the open streams follow ${taken.tasks} tasks`);
      if (own.tasks + tasks > limits.tasksOfPrincipal)
        throw new AppError("overloaded", `the open streams of one principal follow ${own.tasks} tasks`);
      ofPrincipal.set(name, own);
      for (const count of [taken, own]) take(count, 1, tasks);
      let isOpen = true;
      return {
        [Symbol.dispose]: () => {
          if (!isOpen) return;
          isOpen = false;
          for (const count of [taken, own]) take(count, -1, -tasks);
          if (own.streams === 0) ofPrincipal.delete(name);
        },
      };
    },
  };
}

interface Taken {
  streams: number;
  tasks: number;
}

function take(count: Taken, streams: number, tasks: number): void {
  count.streams += streams;
  count.tasks += tasks;
}

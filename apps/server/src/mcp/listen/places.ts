import { AppError, type Principal } from "@holdfast/core";

export interface ListenLimits {
  /** Streams of the node. */
  readonly streams: number;
  readonly streamsOfPrincipal: number;
  /** Tasks of all streams together. */
  readonly tasks: number;
}

export const LISTEN_LIMITS: ListenLimits = { streams: 10_000, streamsOfPrincipal: 500, tasks: 50_000 };

/** How many streams a node holds, for everybody and for each. */
export interface Places {
  /** Takes a place at once, before anything is awaited, or many would pass together. Throws `AppError` "overloaded". */
  enter(principal: Principal, tasks: number): Disposable;
}

export function createPlaces(limits: ListenLimits): Places {
  const ofPrincipal = new Map<string, number>();
  const taken = { streams: 0, tasks: 0 };
  return {
    enter: ({ issuer, subject }, tasks) => {
      const name = JSON.stringify([issuer, subject]);
      const own = ofPrincipal.get(name) ?? 0;
      if (taken.streams >= limits.streams) throw new AppError("overloaded", `${taken.streams} streams are open`);
      if (own >= limits.streamsOfPrincipal) throw new AppError("overloaded", `one principal has ${own} open streams`);
      if (taken.tasks + tasks > limits.tasks) throw new AppError("overloaded", `the open streams follow ${taken.tasks} tasks`);
      ofPrincipal.set(name, own + 1);
      taken.streams += 1;
      taken.tasks += tasks;
      let isOpen = true;
      return {
        [Symbol.dispose]: () => {
          if (!isOpen) return;
          isOpen = false;
          taken.streams -= 1;
          taken.tasks -= tasks;
          const left = (ofPrincipal.get(name) ?? 1) - 1;
          if (left === 0) ofPrincipal.delete(name);
          else ofPrincipal.set(name, left);
        },
      };
    },
  };
}

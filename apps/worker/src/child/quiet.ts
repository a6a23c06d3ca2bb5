import { setImmediate } from "node:timers/promises";

/**
 * Says whether an operation has left anything behind that could still run: timers, open files, sockets. What it left
 * would run, and might fail, in the middle of the next attempt; a process that is not quiet must not be used again.
 */
export function createQuietCheck(): () => Promise<boolean> {
  const baseline = countResources();
  const isQuiet = () => [...countResources()].every(([kind, count]) => count <= (baseline.get(kind) ?? 0));
  return async () => {
    // What was just closed is gone after one turn of the event loop.
    for (let turn = 0; turn < 3; turn += 1) {
      if (isQuiet()) return true;
      await setImmediate();
    }
    return isQuiet();
  };
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

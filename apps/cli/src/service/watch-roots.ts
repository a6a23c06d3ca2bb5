import { pause } from "@holdfast/process";
import { readRoots, type DataFolder } from "./data-folder.ts";

export type Roots = Readonly<Record<string, string>>;

const lookEveryMs = 500;

/**
 * Tells of changes of the roots in the data folder, one at a time and the newest only. By looking, not by file system events: those are lost on
 * network folders and in containers, and a look costs nothing.
 */
export function watchRoots(
  folder: DataFolder,
  { known, onChange, note }: { known: Roots; onChange: (roots: Roots) => Promise<void>; note: (line: string) => void },
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const watching = watch(known);

  async function watch(first: Roots): Promise<void> {
    let present = first;
    while (!stopping.signal.aborted) {
      await pause(lookEveryMs, stopping.signal);
      try {
        const found = await readRoots(folder);
        if (isSame(found, present)) continue;
        await onChange(found);
        present = found;
      } catch (error) {
        note(`the roots of ${folder.path} were not taken up: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  return {
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
}

function isSame(some: Roots, others: Roots): boolean {
  const names = Object.keys(some);
  return names.length === Object.keys(others).length && names.every((name) => some[name] === others[name]);
}

import { compareDiagnostics, omission, type Diagnostic } from "./diagnostic.ts";

/** Shares what one result can hold among the files of a mod: thousands of broken files must not fill the memory with their findings. */
export interface DiagnosticBudget {
  /** What is kept of one file: everything while there is room, later its worst, with one diagnostic more that counts the others. */
  spend(path: string, found: readonly Diagnostic[]): readonly Diagnostic[];
}

export function openBudget(limit = DIAGNOSTIC_LIMIT): DiagnosticBudget {
  let left = limit;
  return {
    spend(path, found) {
      const room = Math.max(left, KEPT_OF_EACH);
      left -= found.length;
      if (found.length <= room) return found;
      return [...found.toSorted(compareDiagnostics).slice(0, room), omission("FILE_FINDINGS_OMITTED", path, found.length - room)];
    },
  };
}

const DIAGNOSTIC_LIMIT = 50_000;

/** However many findings came before, a file still tells the worst of its own. */
const KEPT_OF_EACH = 5;

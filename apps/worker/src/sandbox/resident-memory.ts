import { readFileSync, writeFileSync } from "node:fs";

/** Bytes of a process that are in memory, whoever allocated them; null where there is no /proc or no such process. */
export function residentBytes(pid: number): number | null {
  try {
    const match = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
    return match === null ? null : Number(match[1]) * 1024;
  } catch {
    return null;
  }
}

/** Makes the kernel choose this process, and not its worker or the database, when the machine runs out of memory. */
export function offerToOutOfMemoryKiller(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // No Linux, or a container that forbids it: the limits of the sandbox still hold.
  }
}

/** How many times a crashed or lost attempt may be replaced (contract 5.5). Interrupted attempts cost nothing. */
export const MAX_REPLACEMENTS = 2;

/** Whether one more attempt may follow when `spent` earlier ones failed or were lost, the one that just ended not counted. */
export function mayReplace(spent: number): boolean {
  return spent < MAX_REPLACEMENTS;
}

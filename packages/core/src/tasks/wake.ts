/**
 * Name of the graphile-worker task that wakes workers for a pool and a root. Only workers that serve both register it,
 * so a job is delivered where its task can be claimed. The database builds the same text in SQL (`wakeQuery`).
 */
export function wakeIdentifier(place: { pool: string; root: string }): string {
  return `run-task/${place.pool}/${place.root}`;
}

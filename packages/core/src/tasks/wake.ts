/**
 * Name of the graphile-worker task that wakes workers for a pool and a root. Only workers that serve both register it,
 * so a job is delivered where its task can be claimed. The create statement builds the same text in SQL.
 */
export function wakeIdentifier(place: { pool: string; root: string }): string {
  return `run-task/${place.pool}/${place.root}`;
}

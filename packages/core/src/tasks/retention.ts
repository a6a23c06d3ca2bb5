/** How long a finished task stays readable, in milliseconds (contract 12.1). */
export const DEFAULT_TTL_MS = 24 * 60 * 60 * 1000;

/** What clients are asked to leave between two polls, in milliseconds. */
export const POLL_INTERVAL_MS = 1000;

/** The revisions of MCP that have sessions, the newest first. */
export const LEGACY_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;
export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];

export interface RevisionFeatures {
  /** Whether requests may ask for a task. */
  readonly tasks: boolean;
  /** Whether one body may hold several messages. */
  readonly batches: boolean;
  /** Whether a stream may begin with an id and no message, which clients of earlier revisions would take for broken JSON. */
  readonly primedStreams: boolean;
}

export const FEATURES: Readonly<Record<LegacyRevision, RevisionFeatures>> = {
  "2025-11-25": { tasks: true, batches: false, primedStreams: true },
  "2025-06-18": { tasks: false, batches: false, primedStreams: false },
  "2025-03-26": { tasks: false, batches: true, primedStreams: false },
};

/** Null for a revision that is not served in this era. */
export function legacyRevision(name: string): LegacyRevision | null {
  return LEGACY_REVISIONS.find((revision) => revision === name) ?? null;
}

/** What a client gets that asked for this one: the same if it is served, else the newest, which it may decline. */
export function negotiateRevision(requested: string): LegacyRevision {
  return legacyRevision(requested) ?? LEGACY_REVISIONS[0];
}

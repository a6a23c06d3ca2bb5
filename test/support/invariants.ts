import { openDatabase } from "@holdfast/db";
import { z } from "zod";

type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

export interface InvariantOptions {
  /** Names of views in the schema `ops`, and why the test breaks the rule on purpose. */
  readonly tolerated?: ReadonlyMap<string, string>;
  /** Whether the test has moved its rows into the past, where nobody has done in time what was due. */
  readonly isAged?: boolean;
}

/** Rules that somebody has to act for. */
const IN_TIME = [
  "unreaped_lease",
  "unwoken_task",
  "unattended_journal",
  "overdue_task",
  "unanswered_task",
  "job_of_ended_task",
  "idle_session",
];

/**
 * Rejects when the database breaks a rule that always holds, whatever was killed, paused or disturbed (`ops.invariant_violation`). A rule
 * that is tolerated must be broken: a reason that is none any more would hide the next fault.
 */
export async function expectInvariants(query: Query, options: InvariantOptions = {}): Promise<void> {
  const { tolerated = new Map<string, string>(), isAged = false } = options;
  const violations = violationsSchema.parse(await query(VIOLATIONS, [isAged ? IN_TIME : []]));
  const unexpected = violations.filter(({ invariant }) => !tolerated.has(invariant));
  if (unexpected.length > 0) {
    const events = await query(EVENTS, [unexpected.flatMap(({ task_id: taskId }) => taskId ?? [])]);
    throw new Error(`rules that always hold are broken: ${inLines(unexpected)}\nwhat happened to these tasks: ${inLines(events)}`);
  }
  const broken = new Set(violations.map(({ invariant }) => invariant));
  const kept = [...tolerated].filter(([invariant]) => !broken.has(invariant));
  if (kept.length > 0)
    throw new Error(`rules that a test said it breaks are kept: ${kept.map((pair) => pair.join(", since ")).join("; ")}`);
}

/** The same with a connection of its own, when those of the test are closed. */
export async function expectInvariantsAt(url: string): Promise<void> {
  const database = openDatabase({ url, applicationName: "holdfast-test", maxConnections: 1, onError: () => undefined });
  try {
    await expectInvariants(async (text, values = []) => (await database.pool.query<Record<string, unknown>>(text, [...values])).rows);
  } finally {
    await database.close();
  }
}

const violationsSchema = z.array(z.object({ invariant: z.string(), task_id: z.string().nullable(), detail: z.json() }));

const VIOLATIONS = "select invariant, task_id, detail from ops.invariant_violation where invariant <> all($1::text[])";

const EVENTS = `
select task_id, kind, fencing_token as token, detail, created_at
from holdfast.task_event
where task_id = any($1::uuid[])
order by id
limit 200`;

function inLines(rows: readonly object[]): string {
  return rows.map((row) => `\n  ${JSON.stringify(row)}`).join("");
}

import path from "node:path";
import { z } from "zod";

export interface WorkerConfig {
  readonly databaseUrl: string;
  /** Where LISTEN goes: must reach Postgres itself, not a transaction pooler. */
  readonly listenUrl: string;
  /** Package names or absolute folders. */
  readonly packs: readonly string[];
  /** Folders that workspaces may lie in, by the name that workspaces give. Without any, the worker waits for nothing. */
  readonly roots: ReadonlyMap<string, string>;
  readonly pools: readonly string[];
  /** Operations that run at once. */
  readonly slots: number;
  readonly leaseMs: number;
  /** How long a drain lets attempts run on. */
  readonly drainMs: number;
  readonly logLevel: LogLevel;
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One line for the operator: which variables, and what is expected of them. Never their values. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The environment as a frozen configuration. Throws `ConfigError`. */
export function readWorkerConfig(env: Readonly<Record<string, string | undefined>> = process.env): WorkerConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(describeIssue).join("; "));
  const variables = parsed.data;
  return Object.freeze({
    databaseUrl: variables.DATABASE_URL,
    listenUrl: variables.DATABASE_LISTEN_URL ?? variables.DATABASE_URL,
    packs: variables.HOLDFAST_PACKS,
    roots: variables.HOLDFAST_ROOTS,
    pools: variables.HOLDFAST_POOLS,
    slots: variables.HOLDFAST_SLOTS,
    leaseMs: variables.HOLDFAST_LEASE_MS,
    drainMs: variables.HOLDFAST_DRAIN_MS,
    logLevel: variables.HOLDFAST_LOG_LEVEL,
  });
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const variable = String(issue.path[0] ?? "the environment");
  const missing = issue.code === "invalid_type" && issue.input === undefined;
  return `${variable} ${missing ? "is required" : `is not usable: ${issue.message}`}`;
}

/** Names of roots and pools, as the database admits them. */
const NAME = /^[a-z][a-z0-9_-]{0,63}$/u;

const list = z.string().transform((text) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== ""),
);

const poolsSchema = list.pipe(
  z
    .array(z.string().regex(NAME, "expected names such as default, separated by commas"))
    .min(1, "expected at least one pool")
    .transform((pools) => [...new Set(pools)]),
);

const rootsSchema = list.transform((items, context): ReadonlyMap<string, string> => {
  const roots = new Map<string, string>();
  for (const item of items) {
    const at = item.indexOf("=");
    const [name, folder] = [item.slice(0, Math.max(at, 0)), item.slice(at + 1)];
    if (!NAME.test(name) || !path.isAbsolute(folder)) {
      context.addIssue({ code: "custom", message: "expected name=/absolute/folder, separated by commas" });
      return z.NEVER;
    }
    if (roots.has(name)) {
      context.addIssue({ code: "custom", message: `the root "${name}" is given twice` });
      return z.NEVER;
    }
    roots.set(name, path.resolve(folder));
  }
  return roots;
});

function integer(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,9}$/u, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `expected at least ${min}`).max(max, `expected at most ${max}`));
}

const postgresUrl = z.string().regex(/^postgres(?:ql)?:\/\/\S+$/u, "expected postgres://user:password@host:port/database");

const environmentSchema = z.object({
  DATABASE_URL: postgresUrl,
  DATABASE_LISTEN_URL: postgresUrl.optional(),
  HOLDFAST_PACKS: list.pipe(z.array(z.string()).min(1, "expected at least one pack")).default(["@holdfast/hoi4"]),
  HOLDFAST_ROOTS: rootsSchema.default(new Map()),
  HOLDFAST_POOLS: poolsSchema.default(["default"]),
  HOLDFAST_SLOTS: integer(1, 256).default(2),
  // Less leaves heartbeats no room: one that is late by a breath would cost an attempt.
  HOLDFAST_LEASE_MS: integer(1_000, 3_600_000).default(15_000),
  HOLDFAST_DRAIN_MS: integer(0, 600_000).default(20_000),
  HOLDFAST_LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
});

import path from "node:path";
import {
  integer,
  keys,
  list,
  logLevel,
  packs,
  parseVariables,
  postgresUrl,
  type Environment,
  type Key,
  type LogLevel,
} from "@holdfast/process";
import { z } from "zod";

export interface WorkerConfig {
  readonly databaseUrl: string;
  /** Where LISTEN goes: must reach Postgres itself, not a transaction pooler. */
  readonly listenUrl: string;
  /** Those of the servers: the first seals what attempts leave for the next ones, all verify. */
  readonly keys: readonly Key[];
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

/** The environment as a frozen configuration. Throws `ConfigError`. */
export function readWorkerConfig(env: Environment = process.env): WorkerConfig {
  const variables = parseVariables(environmentSchema, env);
  return Object.freeze({
    databaseUrl: variables.DATABASE_URL,
    listenUrl: variables.DATABASE_LISTEN_URL ?? variables.DATABASE_URL,
    keys: variables.HOLDFAST_KEYS,
    packs: variables.HOLDFAST_PACKS,
    roots: variables.HOLDFAST_ROOTS,
    pools: variables.HOLDFAST_POOLS,
    slots: variables.HOLDFAST_SLOTS,
    leaseMs: variables.HOLDFAST_LEASE_MS,
    drainMs: variables.HOLDFAST_DRAIN_MS,
    logLevel: variables.HOLDFAST_LOG_LEVEL,
  });
}

/** Names as the database admits them. */
const ROOT_NAME = /^[a-z][a-z0-9_-]{0,63}$/u;
const POOL_NAME = /^[a-z][a-z0-9_-]{0,47}$/u;

const poolsSchema = list.pipe(
  z
    .array(z.string().regex(POOL_NAME, "expected names such as default, separated by commas"))
    .min(1, "expected at least one pool")
    .transform((pools) => [...new Set(pools)]),
);

const rootsSchema = list.transform((items, context): ReadonlyMap<string, string> => {
  const roots = new Map<string, string>();
  for (const item of items) {
    const at = item.indexOf("=");
    const [name, folder] = [item.slice(0, Math.max(at, 0)), item.slice(at + 1)];
    if (!ROOT_NAME.test(name) || !path.isAbsolute(folder)) {
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

const environmentSchema = z.object({
  DATABASE_URL: postgresUrl,
  DATABASE_LISTEN_URL: postgresUrl.optional(),
  HOLDFAST_KEYS: keys,
  HOLDFAST_PACKS: packs.default(["@holdfast/hoi4"]),
  HOLDFAST_ROOTS: rootsSchema.default(new Map()),
  HOLDFAST_POOLS: poolsSchema.default(["default"]),
  HOLDFAST_SLOTS: integer(1, 256).default(2),
  // Less leaves heartbeats no room: one that is late by a breath would cost an attempt.
  HOLDFAST_LEASE_MS: integer(1_000, 3_600_000).default(15_000),
  HOLDFAST_DRAIN_MS: integer(0, 600_000).default(20_000),
  HOLDFAST_LOG_LEVEL: logLevel.default("info"),
});

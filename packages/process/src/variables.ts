import { z } from "zod";

export type Environment = Readonly<Record<string, string | undefined>>;

/** One line for the operator: which variables, and what is expected of them. Never their values. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The variables that a schema names, parsed. An empty variable counts as none. Throws `ConfigError` with all complaints in one line. */
export function parseVariables<Variables>(schema: z.ZodType<Variables>, env: Environment): Variables {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map((issue) => describeIssue(issue, given)).join("; "));
  return parsed.data;
}

function describeIssue(issue: z.core.$ZodIssue, given: Environment): string {
  const [variable = "the environment", ...path] = issue.path.map(String);
  return `${[variable, ...path].join(".")} ${variable in given ? `is not usable: ${issue.message}` : "is required"}`;
}

/** Items between commas, trimmed; empty ones are left out. */
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== ""),
);

/** A whole number of at most nine digits, both bounds included. */
export function integer(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,9}$/u, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `expected at least ${min}`).max(max, `expected at most ${max}`));
}

export const postgresUrl = z.string().regex(/^postgres(?:ql)?:\/\/\S+$/u, "expected postgres://user:password@host:port/database");

/** Operation packs: package names or absolute folders. */
export const packs = list.pipe(z.array(z.string()).min(1, "expected at least one pack"));

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const logLevel = z.enum(LOG_LEVELS);

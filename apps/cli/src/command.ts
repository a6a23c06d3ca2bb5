import { parseArgs } from "node:util";
import type { ZodType } from "zod";
import type { CliConfig } from "./config.ts";
import type { Terminal } from "./terminal.ts";

/** What every command is given besides its arguments. */
export interface Surroundings {
  readonly config: CliConfig;
  readonly terminal: Terminal;
}

/** One entry of the command table. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  /** Resolves with the exit code of the process; throws `CommandError` for what the person at the terminal can change. */
  run(args: readonly string[], surroundings: Surroundings): Promise<number>;
}

/** A sentence for the person at the terminal, who sees it alone and without a stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  /** 2: the arguments or the surroundings are unusable; 1: something failed that should have worked. */
  readonly exitCode: number;

  constructor(message: string, options?: { cause?: unknown; exitCode?: number }) {
    super(message, options);
    this.exitCode = options?.exitCode ?? 2;
  }
}

/** The command line itself is wrong, so the usage is shown with it. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
}

interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly default?: string;
  /** How the help calls the value of a string option. */
  readonly value?: string;
  readonly help: string;
}
type Options = Readonly<Record<string, Option>>;
type Parsed<Spec extends Options> = ReturnType<typeof parseArgs<{ args: string[]; options: Spec; strict: true; allowPositionals: true }>>;

interface CommandSpec<Spec extends Options> {
  readonly name: string;
  /** One line for the table of commands. */
  readonly summary: string;
  /** Positional arguments as the usage shows them; empty when there are none. */
  readonly positionals?: string;
  /** What the summary leaves open, in whole lines. */
  readonly description?: string;
  readonly options: Spec;
  readonly run: (invocation: Parsed<Spec> & Surroundings) => Promise<number>;
}

/** Gives a command its parser and its help. An argument that it does not know is a `UsageError`. */
export function defineCommand<const Spec extends Options>(spec: CommandSpec<Spec>): Command {
  const help = describe(spec);
  return {
    name: spec.name,
    summary: spec.summary,
    help,
    run: async (args, surroundings) => {
      const parsed = parse(spec, args);
      if (spec.positionals === undefined && parsed.positionals.length > 0) {
        throw new UsageError(`unexpected argument "${parsed.positionals[0] ?? ""}"`);
      }
      return await spec.run({ ...parsed, ...surroundings });
    },
  };
}

/** A value of the command line as the schema reads it; the error names the option and what would be accepted. */
export function readOption<Value>(name: string, schema: ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UsageError(`${name}: ${result.error.issues[0]?.message ?? "not a usable value"}`);
}

function parse<Spec extends Options>({ options }: CommandSpec<Spec>, args: readonly string[]): Parsed<Spec> {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    if (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
      // Node adds advice on how to escape arguments; the first sentence says what is wrong.
      throw new UsageError(error.message.replace(/\. .*$/su, "").replaceAll("\n", " "), { cause: error });
    }
    throw error;
  }
}

function describe({ name, summary, positionals, description, options }: CommandSpec<Options>): string {
  const rows = Object.entries(options).map(([option, { type, value, default: standard, help }]) => {
    const left = type === "string" ? `--${option} ${value ?? "VALUE"}` : `--${option}`;
    return [left, standard === undefined ? help : `${help} (default ${standard})`] as const;
  });
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return [
    `Usage: holdfast ${[name, positionals, rows.length > 0 ? "[OPTIONS]" : undefined].filter((part) => part !== undefined).join(" ")}`,
    "",
    `${summary}.`,
    ...(description === undefined ? [] : ["", description]),
    ...(rows.length === 0 ? [] : ["", "Options:", ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)]),
  ].join("\n");
}

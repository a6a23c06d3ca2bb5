#!/usr/bin/env node
import { CommandError, UsageError, type Command } from "./command.ts";
import { readCliConfig } from "./config.ts";
import { processTerminal, type Terminal } from "./terminal.ts";

/** Loaded one at a time: a token needs no database driver, a server no embedded Postgres. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import("./commands/up.ts")).upCommand,
  demo: async () => (await import("./commands/demo.ts")).demoCommand,
  workspace: async () => (await import("./commands/workspace.ts")).workspaceCommand,
  grant: async () => (await import("./commands/grant.ts")).grantCommand,
  token: async () => (await import("./commands/token.ts")).tokenCommand,
  migrate: async () => (await import("./commands/migrate.ts")).migrateCommand,
  server: async () => (await import("./commands/server.ts")).serverCommand,
  worker: async () => (await import("./commands/worker.ts")).workerCommand,
  "dev-issuer": async () => (await import("./commands/dev-issuer.ts")).devIssuerCommand,
};

// Not by letting the event loop run empty: whatever a failed command left behind must not keep its verdict from being heard.
process.exit(await main(process.argv.slice(2), processTerminal()));

async function main([name, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    terminal.out(await overview());
    return name === undefined ? 2 : 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) {
    terminal.note(`holdfast: unknown command "${name}"`);
    terminal.note(`Usage: holdfast COMMAND, one of ${Object.keys(commands).join(", ")}`);
    return 2;
  }
  const command = await load();
  if (args.includes("--help") || args.includes("-h")) {
    terminal.out(command.help);
    return 0;
  }
  try {
    return await command.run(args, { config: readCliConfig(), terminal });
  } catch (error) {
    return explain(error, command, terminal);
  }
}

/** What a person can change is said in a line; what is our fault comes with its stack. */
function explain(error: unknown, command: Command, { note }: Terminal): number {
  if (!(error instanceof CommandError)) {
    note(`holdfast ${command.name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return 1;
  }
  note(`holdfast ${command.name}: ${error.message}`);
  if (error instanceof UsageError) note(command.help.split("\n")[0] ?? "");
  return error.exitCode;
}

async function overview(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map(async (load) => await load()));
  const width = Math.max(...all.map(({ name }) => name.length));
  return [
    "Usage: holdfast COMMAND [OPTIONS]",
    "",
    ...all.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "holdfast COMMAND --help says more. From a checkout: npm run holdfast -- COMMAND.",
  ].join("\n");
}

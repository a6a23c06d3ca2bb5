#!/usr/bin/env node
import { CommandError, UsageError, type Command } from "./command.ts";
import { demoCommand } from "./commands/demo.ts";
import { devIssuerCommand } from "./commands/dev-issuer.ts";
import { grantCommand } from "./commands/grant.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { serverCommand } from "./commands/server.ts";
import { tokenCommand } from "./commands/token.ts";
import { upCommand } from "./commands/up.ts";
import { workerCommand } from "./commands/worker.ts";
import { workspaceCommand } from "./commands/workspace.ts";
import { readCliConfig } from "./config.ts";
import { processTerminal, type Terminal } from "./terminal.ts";

const commands: readonly Command[] = [
  upCommand,
  demoCommand,
  workspaceCommand,
  grantCommand,
  tokenCommand,
  migrateCommand,
  serverCommand,
  workerCommand,
  devIssuerCommand,
];

// Not by letting the event loop run empty: whatever a failed command left behind must not keep its verdict from being heard.
process.exit(await main(process.argv.slice(2), processTerminal()));

async function main([name, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    terminal.out(overview());
    return name === undefined ? 2 : 0;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    terminal.note(`holdfast: unknown command "${name}"`);
    terminal.note(`Usage: holdfast COMMAND, one of ${commands.map((candidate) => candidate.name).join(", ")}`);
    return 2;
  }
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

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "Usage: holdfast COMMAND [OPTIONS]",
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "holdfast COMMAND --help says more. From a checkout: npm run holdfast -- COMMAND.",
  ].join("\n");
}

// The reading operations of the pack at a terminal, without a service: `npm run hoi4 -- event-inspect PATH --mode scan --json`.
import { runCommand } from "./run-command.ts";

const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort(new Error("interrupted")));

process.exitCode = await runCommand(
  process.argv.slice(2),
  { out: (text) => process.stdout.write(`${text}\n`), note: (text) => process.stderr.write(`${text}\n`) },
  interrupt.signal,
);

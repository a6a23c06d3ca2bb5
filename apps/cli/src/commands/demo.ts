import path from "node:path";
import { defineCommand } from "../command.ts";
import { callerPath, projectFolder } from "../config.ts";
import { createNarrator, type Narrator } from "../demo/narrator.ts";
import { play, type Played } from "../demo/play.ts";
import { exitCodeOf, listenForInterruption, untilInterrupted, type Interruption } from "../launcher/interruption.ts";
import { clientConfigurations, describeClients, firstSteps } from "../service/client-config.ts";
import { usableFolder } from "./usable-folder.ts";

const exampleMod = path.join(projectFolder, "examples", "lantern-harbour");
/** Of a service that `npm start` runs. */
const usualUrl = "http://127.0.0.1:8400/mcp";
const keptTokenSeconds = 8 * 60 * 60;

export const demoCommand = defineCommand({
  name: "demo",
  summary: "Shows a task that survives the server that accepted it",
  description: [
    "Starts a temporary database, two server nodes, an issuer and a worker; scans the events of a mod as a task; kills the node that",
    "accepted it; fetches the result from the other; and removes everything again.",
  ].join("\n"),
  options: {
    mod: { type: "string", value: "DIR", help: "the mod to scan (default: the example mod of the project)" },
    keep: { type: "boolean", help: "leave the service running until Ctrl+C" },
  },
  run: async ({ values, config, terminal }) => {
    const mod = await usableFolder(values.mod === undefined ? exampleMod : callerPath(config, values.mod));
    const interruption = listenForInterruption();
    const narrator = createNarrator(terminal);
    const cleanup = new AsyncDisposableStack();
    let closing: readonly string[] = [];
    let code = 0;
    try {
      terminal.out("This shows a Holdfast task that outlives the server that accepted it.");
      const played = await Promise.race([play({ config, narrator, mod }, cleanup), untilInterrupted(interruption)]);
      if (played !== undefined) {
        code = played.result.isError ? 1 : 0;
        closing = closingWords(played);
        await connectClients(played, { isKept: values.keep === true, narrator, interruption });
      }
    } finally {
      await cleanup.disposeAsync();
    }
    const signal = interruption.received();
    if (signal !== null && closing.length === 0) {
      terminal.note("\nInterrupted. Everything that was started is stopped and removed.");
      return exitCodeOf(signal);
    }
    for (const line of closing) terminal.out(line);
    return code;
  },
});

/** The way on: the same with the reader's own client, now or with a service that stays. */
async function connectClients(
  { stage }: Played,
  { isKept, narrator, interruption }: { isKept: boolean; narrator: Narrator; interruption: Interruption },
): Promise<void> {
  narrator.heading("Your own client");
  if (!isKept) {
    const blocks = describeClients(clientConfigurations({ url: usualUrl, token: null }));
    for (const line of ["`npm start` runs a service that stays.", ...firstSteps({ isOwnIssuer: true }), ...blocks]) narrator.say(line);
    return;
  }
  const blocks = describeClients(clientConfigurations({ url: stage.nodeB.url, token: await stage.token(keptTokenSeconds) }));
  narrator.say(`Node B and the worker stay. The token below stands for the subject ${stage.subject} and is valid for eight hours.`);
  for (const line of ["", ...blocks, "Ctrl+C ends the service and removes it."]) narrator.say(line);
  await untilInterrupted(interruption);
}

function closingWords({ stage, result }: Played): readonly string[] {
  return [
    "Everything that was started is stopped and removed.",
    `The result (${result.gist}) was fetched from node B at ${stage.nodeB.url},`,
    `after node A at ${stage.nodeA.url}, which had accepted the task, was killed.`,
  ];
}

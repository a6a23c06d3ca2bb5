import { defineCommand, readOption } from "../command.ts";
import { refuseProduction } from "../dev-issuer/issuer-server.ts";
import { listenForInterruption, untilInterrupted } from "../launcher/interruption.ts";
import { clientConfigurations, describeClients, firstSteps } from "../service/client-config.ts";
import { startSingleMachine } from "../service/single-machine.ts";
import { chosenDataFolder, dataOption, portNumber } from "./options.ts";
import { warningOf } from "./warning-of.ts";

export const upCommand = defineCommand({
  name: "up",
  summary: "Runs the whole service on this machine and keeps it running",
  description: [
    "Database, one server, one worker and a development issuer of access tokens. What they keep is in the data folder and is there again",
    "at the next start. With DATABASE_URL set, that database is used; with HOLDFAST_ISSUERS set, those issuers are.",
  ].join("\n"),
  options: {
    port: { type: "string", value: "PORT", help: "where clients connect (default 8400, or HOLDFAST_PORT)" },
    "issuer-port": { type: "string", value: "PORT", default: "8401", help: "of the development issuer, chosen at its first start" },
    data: dataOption,
    logs: { type: "boolean", help: "print all log lines, not only warnings and errors" },
  },
  run: async ({ values, config, terminal }) => {
    const folder = chosenDataFolder(config, values.data);
    const port = readOption("--port", portNumber, values.port ?? config.port);
    const issuerPort = readOption("--issuer-port", portNumber, values["issuer-port"]);
    const interruption = listenForInterruption();
    if (config.issuers === null) refuseProduction(config);
    terminal.out(`Starting Holdfast; its data is in ${folder.path}.`);
    const service = await startSingleMachine({
      config,
      folder,
      port,
      issuerPort,
      say: terminal.out,
      note: terminal.note,
      onLog: (line) => {
        if (values.logs === true) terminal.out(line);
        else if (warningOf(line) !== null) terminal.note(warningOf(line) ?? "");
      },
    });
    for (const line of welcome(service)) terminal.out(line);
    await untilInterrupted(interruption);
    terminal.out("Stopping: what runs may finish, the rest is taken up at the next start.");
    await service.stop();
    return 0;
  },
});

function welcome({ url, issuer }: { url: string; issuer: string | null }): readonly string[] {
  const clients = describeClients(clientConfigurations({ url, token: null }));
  return ["", `Holdfast serves at ${url}`, "", ...firstSteps({ isOwnIssuer: issuer !== null }), ...clients, "Ctrl+C stops it."];
}

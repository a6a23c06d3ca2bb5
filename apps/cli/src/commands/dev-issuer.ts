import { defineCommand, readOption } from "../command.ts";
import { refuseProduction, startDevIssuer } from "../dev-issuer/issuer-server.ts";
import { listenForInterruption, untilInterrupted } from "../launcher/interruption.ts";
import { createDataFolder, issuerIdentity } from "../service/data-folder.ts";
import { chosenDataFolder, dataOption, portNumber } from "./options.ts";

export const devIssuerCommand = defineCommand({
  name: "dev-issuer",
  summary: "Runs the development issuer of access tokens alone, on loopback",
  description: "For servers that you start yourself: it prints the line for a shell that makes them believe its tokens.",
  options: {
    port: { type: "string", value: "PORT", default: "8401", help: "where it listens, chosen at its first start in the data folder" },
    audience: {
      type: "string",
      value: "URL",
      help: "what tokens are for when a request names nothing (default: the server of this machine)",
    },
    data: dataOption,
  },
  run: async ({ values, config, terminal }) => {
    refuseProduction(config);
    const folder = chosenDataFolder(config, values.data);
    const firstPort = readOption("--port", portNumber, values.port);
    await createDataFolder(folder);
    const { port, keys } = await issuerIdentity(folder, firstPort);
    const audience = values.audience ?? config.publicUrl ?? `http://127.0.0.1:${config.port}/mcp`;
    const interruption = listenForInterruption();
    const issuer = await startDevIssuer({ port, keys, audience, isProduction: config.isProduction });
    terminal.out(`export HOLDFAST_ISSUERS='${JSON.stringify([{ issuer: issuer.url, jwksUrl: issuer.jwksUrl }])}'`);
    await untilInterrupted(interruption);
    await issuer.stop();
    return 0;
  },
});

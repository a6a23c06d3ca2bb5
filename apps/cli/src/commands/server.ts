import { defineCommand } from "../command.ts";
import { endWithParent } from "../launcher/child.ts";

export const serverCommand = defineCommand({
  name: "server",
  summary: "Runs one stateless server node in this process",
  description: "It is configured by the environment alone; docs/run-it.md lists the variables.",
  options: {},
  run: async ({ config }) => {
    endWithParent();
    // Loaded here, because no other command needs it.
    const { runServer } = await import("@holdfast/server");
    return await runServer(config.environment);
  },
});

import { defineCommand } from "../command.ts";
import { endWithParent } from "../launcher/child.ts";

export const workerCommand = defineCommand({
  name: "worker",
  summary: "Runs one worker in this process",
  description: "It is configured by the environment alone; docs/run-it.md lists the variables.",
  options: {},
  run: async ({ config }) => {
    endWithParent();
    // Loaded here, because no other command needs it.
    const { runWorker } = await import("@holdfast/worker");
    return await runWorker(config.environment);
  },
});

import { runServer } from "./run-server.ts";

process.exit(await runServer());

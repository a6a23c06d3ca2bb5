export { readServerConfig, type ServerConfig } from "./config.ts";
export { runServer } from "./run-server.ts";
export { startServer, type RunningServer, type ServerSurroundings } from "./start-server.ts";

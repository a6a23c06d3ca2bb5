export { ConfigError, readServerConfig, type ServerConfig } from "./config.ts";
export { EXIT_CODES, runServer } from "./run-server.ts";
export { startServer, type RunningServer, type ServerSurroundings } from "./start-server.ts";

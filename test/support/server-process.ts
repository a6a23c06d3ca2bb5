import { createRequire } from "node:module";
import path from "node:path";
import { modernCaller, type CallModern } from "./mcp-request.ts";
import { runServiceProcess, startServiceProcess, type ProcessEnd, type ServiceProcess } from "./service-process.ts";

/** A real server process. */
export interface ServerProcess extends ServiceProcess {
  /** Where it listens. */
  readonly url: string;
  readonly call: CallModern;
}

const MAIN = path.join(path.dirname(createRequire(import.meta.url).resolve("@holdfast/server")), "main.ts");

export async function startServerProcess(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const service = await startServiceProcess({ main: MAIN, env });
  const url = String(service.started["url"]);
  return { ...service, url, call: modernCaller(url) };
}

export async function runServerProcess(env: Readonly<Record<string, string>>): Promise<ProcessEnd> {
  return await runServiceProcess({ main: MAIN, env });
}

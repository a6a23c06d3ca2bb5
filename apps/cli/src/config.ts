import path from "node:path";

/** The environment as this process found it: the only reader of `process.env` in the command line. */
export interface CliConfig {
  /** A Postgres of somebody else's; null for the embedded one. */
  readonly databaseUrl: string | null;
  /** Absolute folder of `holdfast up`: database, keys, roots. */
  readonly dataFolder: string;
  /** What relative paths on the command line are relative to. */
  readonly callerFolder: string;
  readonly isProduction: boolean;
  readonly host: string;
  readonly port: string;
  /** Null: the address of the server itself. */
  readonly publicUrl: string | null;
  /** Issuers of access tokens, as the server reads them; null for the development issuer. */
  readonly issuers: string | null;
  /** Keys of the handles, as the server reads them; null for the ones in the data folder. */
  readonly handleKeys: string | null;
  /** What the processes that we start inherit: what they read, and what any program needs. */
  readonly inherited: Readonly<Record<string, string>>;
  /** All of it, for the commands that become a server or a worker. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The checkout that this command line belongs to. */
export const projectFolder = path.resolve(import.meta.dirname, "../../..");
const neededByPrograms = ["PATH", "HOME", "TMPDIR", "TZ", "LANG", "LC_ALL", "NODE_ENV", "NODE_EXTRA_CA_CERTS"];
/** Read here and by nobody else. */
const ours = new Set(["HOLDFAST_DATA"]);

export function readCliConfig(environment: NodeJS.ProcessEnv = process.env): CliConfig {
  const read = (name: string): string | null => {
    const value = environment[name];
    return value === undefined || value === "" ? null : value;
  };
  // npm starts scripts in the folder of the project and says where the person stood.
  const callerFolder = (read("npm_lifecycle_event") === null ? null : read("INIT_CWD")) ?? process.cwd();
  return Object.freeze({
    databaseUrl: read("DATABASE_URL"),
    dataFolder: path.resolve(callerFolder, read("HOLDFAST_DATA") ?? path.join(projectFolder, ".holdfast")),
    callerFolder,
    isProduction: read("NODE_ENV") === "production",
    host: read("HOLDFAST_HOST") ?? "127.0.0.1",
    port: read("HOLDFAST_PORT") ?? "8400",
    publicUrl: read("HOLDFAST_PUBLIC_URL"),
    issuers: read("HOLDFAST_ISSUERS"),
    handleKeys: read("HOLDFAST_KEYS"),
    inherited: Object.freeze(inheritable(environment)),
    environment,
  });
}

/** A path of the command line, absolute. */
export function callerPath({ callerFolder }: CliConfig, given: string): string {
  return path.resolve(callerFolder, given);
}

/** A short list: what npm, a shell or an editor adds to an environment is nothing that a service should come to depend on. */
function inheritable(environment: NodeJS.ProcessEnv): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const isOwn = name.startsWith("HOLDFAST_") || name === "DATABASE_LISTEN_URL";
    if (value !== undefined && !ours.has(name) && (isOwn || neededByPrograms.includes(name))) inherited[name] = value;
  }
  return inherited;
}

/** The access token of a client process of the demo. */
export function readClientToken(environment: NodeJS.ProcessEnv = process.env): string {
  return environment["HOLDFAST_TOKEN"] ?? "";
}

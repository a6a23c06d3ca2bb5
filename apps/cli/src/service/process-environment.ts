import { CommandError } from "../command.ts";
import type { CliConfig } from "../config.ts";

export interface ServiceSettings {
  readonly databaseUrl: string;
  /** Where clients call, and what their tokens are for. */
  readonly publicUrl: string;
  /** The development issuer; null where HOLDFAST_ISSUERS names another one. */
  readonly issuer: string | null;
  /** HOLDFAST_KEYS: nodes sign handles with them, and workers what an attempt leaves for the next one. */
  readonly handleKeys: string;
}

/** The environment of a server node: what we inherited, and over it what we decided. */
export function serverEnvironment(config: CliConfig, settings: ServiceSettings, port: number): Record<string, string> {
  const { databaseUrl, publicUrl, issuer, handleKeys } = settings;
  const issuers = issuer === null ? {} : { HOLDFAST_ISSUERS: developmentIssuers(issuer) };
  return {
    ...config.inherited,
    ...issuers,
    DATABASE_URL: databaseUrl,
    HOLDFAST_PORT: String(port),
    HOLDFAST_PUBLIC_URL: publicUrl,
    HOLDFAST_KEYS: handleKeys,
  };
}

/** The environment of a worker. Roots of the data folder come on top of those in HOLDFAST_ROOTS. */
export function workerEnvironment(
  config: CliConfig,
  { databaseUrl, handleKeys }: Pick<ServiceSettings, "databaseUrl" | "handleKeys">,
  roots: Readonly<Record<string, string>>,
): Record<string, string> {
  const own = Object.entries(roots).map(([name, target]) => `${name}=${target}`);
  const { HOLDFAST_ROOTS: inherited, ...rest } = config.inherited;
  const all = [...(inherited === undefined || inherited === "" ? [] : [inherited]), ...own].join(",");
  return { ...rest, DATABASE_URL: databaseUrl, HOLDFAST_KEYS: handleKeys, ...(all === "" ? {} : { HOLDFAST_ROOTS: all }) };
}

/** HOLDFAST_ROOTS separates roots by commas, so none can hold one. */
export function refuseComma(folder: string): void {
  if (folder.includes(",")) throw new CommandError(`the path ${folder} has a comma, which HOLDFAST_ROOTS cannot hold: rename the folder`);
}

function developmentIssuers(issuer: string): string {
  return JSON.stringify([{ issuer, jwksUrl: `${issuer}/jwks`, algorithms: ["ES256", "RS256"] }]);
}

import {
  ConfigError,
  integer,
  keys,
  list,
  logLevel,
  packs,
  parseVariables,
  postgresUrl,
  type Environment,
  type Key,
  type LogLevel,
} from "@holdfast/process";
import { z } from "zod";

/** Whom a node believes: one issuer of access tokens and how its tokens look. */
export interface IssuerConfig {
  /** Compared with `iss` character by character; a trailing slash makes another issuer. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** What `aud` must contain: the resource that clients named when they asked for the token (RFC 8707). */
  readonly audience: string;
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Name of the claim that lists the caller's groups. */
  readonly groupsClaim: string;
  readonly clockToleranceSeconds: number;
}

/** Asymmetric only: with a shared-secret algorithm anybody who holds the public key could sign (RFC 8725, 2.1). */
const SIGNATURE_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

export interface ServerConfig {
  readonly databaseUrl: string;
  /** Where LISTEN goes: must reach Postgres itself, not a transaction pooler. */
  readonly listenUrl: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The URL clients call: the protected resource, and the audience of tokens unless an issuer says otherwise. */
  readonly publicUrl: string;
  readonly issuers: readonly IssuerConfig[];
  /** The first signs, all verify. */
  readonly keys: readonly Key[];
  readonly packs: readonly string[];
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  /** Host names, without port, that a request may name. */
  readonly allowedHosts: readonly string[];
  /** Origins (`scheme://host[:port]`) that a browser may come from. */
  readonly allowedOrigins: readonly string[];
  readonly maxConnections: number;
  /** MCP requests that a node serves at once; the next one is told to come back. */
  readonly maxInFlight: number;
}

/** The environment as a frozen configuration. Throws `ConfigError`. */
export function readServerConfig(env: Environment = process.env): ServerConfig {
  const variables = parseVariables(environmentSchema, env);
  const publicUrl = variables.HOLDFAST_PUBLIC_URL ?? `http://${bracketed(variables.HOLDFAST_HOST)}:${variables.HOLDFAST_PORT}/mcp`;
  if (!URL.canParse(publicUrl))
    throw new ConfigError(
      "HOLDFAST_HOST makes no URL: expected a host name or an address without brackets, or HOLDFAST_PUBLIC_URL beside it",
    );
  return Object.freeze({
    databaseUrl: variables.DATABASE_URL,
    listenUrl: variables.DATABASE_LISTEN_URL ?? variables.DATABASE_URL,
    host: variables.HOLDFAST_HOST,
    port: variables.HOLDFAST_PORT,
    publicUrl,
    issuers: variables.HOLDFAST_ISSUERS.map((issuer) => Object.freeze({ ...issuer, audience: issuer.audience ?? publicUrl })),
    keys: variables.HOLDFAST_KEYS,
    packs: variables.HOLDFAST_PACKS,
    drainMs: variables.HOLDFAST_DRAIN_MS,
    logLevel: variables.HOLDFAST_LOG_LEVEL,
    allowedHosts: variables.HOLDFAST_ALLOWED_HOSTS ?? defaultHosts(publicUrl),
    allowedOrigins: variables.HOLDFAST_ALLOWED_ORIGINS ?? [new URL(publicUrl).origin],
    maxConnections: variables.HOLDFAST_MAX_CONNECTIONS,
    maxInFlight: variables.HOLDFAST_MAX_IN_FLIGHT,
  });
}

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK_HOSTS.includes(hostname);
}

/** A service that is public under a loopback name is somebody's own machine, where all loopback names mean the same. */
function defaultHosts(publicUrl: string): readonly string[] {
  const { hostname } = new URL(publicUrl);
  return isLoopbackHost(hostname) ? LOOPBACK_HOSTS : [hostname];
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

const httpUrl = z.url({ protocol: /^https?$/u, error: "expected an http:// or https:// URL" });

const publicUrlSchema = httpUrl
  .refine((url) => !/[?#]/u.test(url), "expected a URL without query and fragment")
  // It is told to everybody.
  .refine((url) => /^https?:\/\/[^/@]*(?:\/|$)/iu.test(url), "expected a URL without user and password");

const issuerSchema = z.strictObject({
  issuer: z.string().min(1).max(512),
  jwksUrl: httpUrl,
  audience: z.string().min(1).max(512).optional(),
  algorithms: z.array(z.enum(SIGNATURE_ALGORITHMS)).min(1).default(["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]),
  groupsClaim: z.string().min(1).max(128).default("groups"),
  clockToleranceSeconds: z.number().int().min(0).max(300).default(5),
});

const issuersSchema = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: "custom", message: "expected a JSON list of { issuer, jwksUrl }" });
      return z.NEVER;
    }
  })
  .pipe(
    z
      .array(issuerSchema)
      .min(1, "expected at least one issuer")
      .refine((issuers) => new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length, "the same issuer is listed twice"),
  );

const originsSchema = list.transform((items, context) =>
  items.map((item) => {
    const origin = URL.canParse(item) ? new URL(item).origin : "null";
    if (origin === "null" || origin !== item.toLowerCase().replace(/\/$/u, ""))
      context.addIssue({ code: "custom", message: "expected origins such as https://app.example.com" });
    return origin;
  }),
);

const hostsSchema = list.transform((items, context) =>
  items.map((item) => {
    const host = item.toLowerCase();
    if (!URL.canParse(`http://${host}`) || new URL(`http://${host}`).hostname !== host)
      context.addIssue({ code: "custom", message: "expected host names without port, such as mcp.example.com" });
    return host;
  }),
);

const environmentSchema = z.object({
  DATABASE_URL: postgresUrl,
  DATABASE_LISTEN_URL: postgresUrl.optional(),
  HOLDFAST_HOST: z.string().default("127.0.0.1"),
  HOLDFAST_PORT: integer(0, 65_535).default(8400),
  HOLDFAST_PUBLIC_URL: publicUrlSchema.optional(),
  HOLDFAST_ISSUERS: issuersSchema,
  HOLDFAST_KEYS: keys,
  HOLDFAST_PACKS: packs.default(["@holdfast/hoi4"]),
  HOLDFAST_DRAIN_MS: integer(0, 600_000).default(20_000),
  HOLDFAST_LOG_LEVEL: logLevel.default("info"),
  HOLDFAST_ALLOWED_HOSTS: hostsSchema.optional(),
  HOLDFAST_ALLOWED_ORIGINS: originsSchema.optional(),
  HOLDFAST_MAX_CONNECTIONS: integer(1, 200).default(10),
  HOLDFAST_MAX_IN_FLIGHT: integer(1, 100_000).default(1000),
});

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { CommandError } from "../command.ts";
import { listenOnLoopback } from "./listen.ts";
import { publicKeySet, type SigningKey } from "./signing-keys.ts";
import { defaultTtlSeconds, signToken, tokenRequestSchema } from "./sign-token.ts";
import { readTokenForm } from "./token-form.ts";

export interface DevIssuerOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly keys: readonly SigningKey[];
  /** What a token is for when its request names nothing. */
  readonly audience: string;
  readonly isProduction: boolean;
}

export interface DevIssuer {
  /** The `iss` of its tokens. */
  readonly url: string;
  readonly jwksUrl: string;
  stop(): Promise<void>;
}

const keysLiveSeconds = 300;

/**
 * An issuer of access tokens for one machine: it gives anybody who asks a token for any subject. So it listens on loopback alone, refuses
 * browsers and forwarded requests, and does not start where NODE_ENV says production.
 */
export async function startDevIssuer(options: DevIssuerOptions): Promise<DevIssuer> {
  if (options.isProduction) {
    throw new CommandError(
      "the development issuer refuses to start with NODE_ENV=production: set HOLDFAST_ISSUERS to your identity provider",
    );
  }
  let url = "";
  const server = createServer((request, response) => {
    answer(request, { url, options }).then(
      ({ status, body, cacheSeconds }) => send(response, status, body, cacheSeconds),
      () => send(response, 500, { error: "server_error" }, 0),
    );
  });
  const port = await listenOnLoopback(server, options.port, "development issuer");
  url = issuerUrl(port);
  return { url, jwksUrl: `${url}/jwks`, stop: () => close(server) };
}

/** For whoever wants to know before anything else is started. */
export function refuseProduction({ isProduction }: { isProduction: boolean }): void {
  if (!isProduction) return;
  throw new CommandError(
    "the development issuer refuses to start with NODE_ENV=production: set HOLDFAST_ISSUERS to your identity provider",
  );
}

/** The `iss` of tokens from the development issuer of that port. */
export function issuerUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** How long anybody may keep it; 0 for not at all. */
  readonly cacheSeconds: number;
}

async function answer(request: IncomingMessage, issuer: { url: string; options: DevIssuerOptions }): Promise<Answer> {
  // A name that resolves to 127.0.0.1 would let a web page speak to us (DNS rebinding); a proxy would let the network.
  if (!isFromThisMachine(request)) return refuse(403, "access_denied");
  const { pathname } = new URL(request.url ?? "/", issuer.url);
  if (request.method === "POST" && pathname === "/token") return await grantToken(request, issuer);
  if (request.method !== "GET" && request.method !== "HEAD") return refuse(405, "invalid_request");
  switch (pathname) {
    case "/jwks":
      return { status: 200, body: publicKeySet(issuer.options.keys), cacheSeconds: keysLiveSeconds };
    case "/.well-known/openid-configuration":
    case "/.well-known/oauth-authorization-server":
      return { status: 200, body: metadata(issuer.url), cacheSeconds: keysLiveSeconds };
    default:
      return refuse(404, "not_found");
  }
}

function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const host = (headers.host ?? "").replace(/:\d+$/u, "");
  return (
    (socket.remoteAddress === "127.0.0.1" || socket.remoteAddress === "::ffff:127.0.0.1") &&
    (host === "127.0.0.1" || host === "localhost") &&
    headers.origin === undefined &&
    headers.forwarded === undefined &&
    headers["x-forwarded-for"] === undefined
  );
}

/** The client credentials grant (RFC 6749, 4.4), where the client may also say whom it stands for. */
async function grantToken(request: IncomingMessage, issuer: { url: string; options: DevIssuerOptions }): Promise<Answer> {
  const form = await readTokenForm(request);
  if (form === null) return refuse(400, "invalid_request", "send a form of at most 16 KiB");
  if ((form.get("grant_type") ?? "client_credentials") !== "client_credentials") return refuse(400, "unsupported_grant_type");
  const parsed = tokenRequestSchema.safeParse({
    subject: form.get("subject") ?? "developer",
    scopes: words(form.get("scope")),
    groups: form.getAll("group"),
    audience: form.get("resource") ?? form.get("audience") ?? issuer.options.audience,
    ttlSeconds: Number(form.get("ttl") ?? defaultTtlSeconds),
    algorithm: form.get("algorithm") ?? "ES256",
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse(400, "invalid_request", `${issue?.path.join(".") ?? "request"}: ${issue?.message ?? "unusable"}`);
  }
  const { token, expiresAt } = await signToken({ url: issuer.url, keys: issuer.options.keys }, parsed.data);
  const expiresIn = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
  const body = { access_token: token, token_type: "Bearer", expires_in: expiresIn, scope: parsed.data.scopes.join(" ") };
  return { status: 200, body, cacheSeconds: 0 };
}

/** RFC 8414, and as much of OpenID discovery as an issuer without a login page can say. */
function metadata(url: string): Record<string, unknown> {
  return {
    issuer: url,
    jwks_uri: `${url}/jwks`,
    token_endpoint: `${url}/token`,
    grant_types_supported: ["client_credentials"],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ["none"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256", "ES256"],
  };
}

function refuse(status: number, error: string, description?: string): Answer {
  return { status, body: { error, ...(description === undefined ? {} : { error_description: description }) }, cacheSeconds: 0 };
}

function words(text: string | null): string[] {
  return (text ?? "").split(" ").filter((word) => word !== "");
}

function send(response: ServerResponse, status: number, body: unknown, cacheSeconds: number): void {
  const caching = cacheSeconds > 0 ? `public, max-age=${cacheSeconds}` : "no-store";
  response.writeHead(status, { "content-type": "application/json", "cache-control": caching, "x-content-type-options": "nosniff" });
  response.end(response.req.method === "HEAD" ? undefined : JSON.stringify(body));
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.close(() => resolve(undefined));
  server.closeAllConnections();
  await promise;
}

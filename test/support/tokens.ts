import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from "jose";

/** An issuer of access tokens with its own key set on loopback, and the faults such issuers have. */
export interface TestIssuer {
  /** What its tokens say in `iss`, and what HOLDFAST_ISSUERS must say. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** How often somebody asked for the key set. */
  readonly fetches: number;
  /** `hang` accepts connections and never answers; `redirect` leads to where the same keys are. */
  mode: "answer" | "fail" | "hang" | "redirect" | "flood";
  /** A token that is good for `audience`, unless `claims` or `header` say otherwise; a claim set to undefined is left out. */
  token(options: TokenOptions): Promise<string>;
  /** Replaces the signing key; the published set keeps the older ones. */
  rotate(key?: Partial<JWK>): Promise<void>;
  /** The key that signs now, in public. */
  readonly publicJwk: JWK;
  close(): Promise<void>;
}

export interface TokenOptions {
  readonly audience: string | readonly string[];
  readonly subject?: string;
  readonly scopes?: readonly string[];
  readonly groups?: readonly string[];
  readonly lifetimeSeconds?: number;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly kid?: string | null;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

const ALGORITHM = "ES256";

export async function startTestIssuer(): Promise<TestIssuer> {
  const keys: SigningKey[] = [await createKey("key-1")];
  let fetches = 0;
  let mode: TestIssuer["mode"] = "answer";
  const server = createServer((request, response) => {
    fetches += 1;
    answer(
      request.url === "/moved" ? "answer" : mode,
      response,
      keys.map(({ publicJwk }) => publicJwk),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const current = (): SigningKey => {
    const key = keys.at(-1);
    if (key === undefined) throw new Error("an issuer has at least one key");
    return key;
  };
  return {
    issuer: origin,
    jwksUrl: `${origin}/jwks`,
    get fetches() {
      return fetches;
    },
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
    },
    get publicJwk() {
      return current().publicJwk;
    },
    token: async (options) => {
      const { kid, privateKey } = current();
      const header = options.kid === null ? { alg: ALGORITHM } : { alg: ALGORITHM, kid: options.kid ?? kid };
      return await new SignJWT(claimsFor(origin, options)).setProtectedHeader({ ...header, typ: "at+jwt" }).sign(privateKey);
    },
    rotate: async (key) => {
      keys.push(await createKey(`key-${keys.length + 1}`, key));
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** The claims of a token that is accepted, before `options.claims` spoils it. */
export function claimsFor(issuer: string, options: TokenOptions): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  const claims: Record<string, unknown> = {
    iss: issuer,
    sub: options.subject ?? "alice",
    aud: options.audience,
    iat: now,
    exp: now + (options.lifetimeSeconds ?? 300),
    scope: (options.scopes ?? []).join(" "),
    groups: options.groups ?? [],
    ...options.claims,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

async function createKey(kid: string, overrides: Partial<JWK> = {}): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: ALGORITHM, use: "sig", ...overrides } };
}

function answer(mode: TestIssuer["mode"], response: ServerResponse, keys: readonly JWK[]): void {
  switch (mode) {
    case "answer":
      response.setHeader("content-type", "application/jwk-set+json").end(JSON.stringify({ keys }));
      return;
    case "fail":
      response.writeHead(500).end();
      return;
    case "redirect":
      response.writeHead(302, { location: "/moved" }).end();
      return;
    case "flood":
      response.setHeader("content-type", "application/json").end(`{"keys":[],"padding":"${"x".repeat(1_000_000)}"}`);
      return;
    case "hang":
  }
}

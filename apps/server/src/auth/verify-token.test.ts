import { afterEach, beforeEach, expect, test } from "vitest";
import { createHmac } from "node:crypto";
import { exportSPKI, importJWK } from "jose";
import { claimsFor, startTestIssuer, type TestIssuer, type TokenOptions } from "../../../../test/support/tokens.ts";
import type { IssuerConfig } from "../config.ts";
import { createTokenVerifier, type TokenVerdict, type VerifyToken } from "./verify-token.ts";

const audience = "https://mcp.example/mcp";
let issuer: TestIssuer;
let verifier: VerifyToken;

beforeEach(async () => {
  issuer = await startTestIssuer();
  verifier = createTokenVerifier([issuerConfig()]);
});
afterEach(async () => {
  await issuer.close();
});

function issuerConfig(overrides: Partial<IssuerConfig> = {}): IssuerConfig {
  return {
    issuer: issuer.issuer,
    jwksUrl: issuer.jwksUrl,
    audience,
    algorithms: ["ES256"],
    groupsClaim: "groups",
    clockToleranceSeconds: 5,
    ...overrides,
  };
}

async function verdictOn(options: Partial<TokenOptions> = {}): Promise<TokenVerdict> {
  return await verifier(await issuer.token({ audience, ...options }));
}

function unsigned(header: object, payload: object): string {
  return [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
}

test("a good token names its principal with groups and scopes, and its end with what is tolerated", async () => {
  const exp = Math.floor(Date.now() / 1000) + 600;
  expect(await verdictOn({ subject: "alice", groups: ["modders"], scopes: ["hoi4:read", "hoi4:write"], claims: { exp } })).toEqual({
    kind: "valid",
    expiresAt: new Date((exp + 5) * 1000),
    principal: { issuer: issuer.issuer, subject: "alice", groups: ["modders"], scopes: ["hoi4:read", "hoi4:write"] },
  });
});

test.for([1e13, 1e300])("a token that ends at %d, after every date, is good until the last of them", async (exp) => {
  expect(await verdictOn({ claims: { exp } })).toMatchObject({ kind: "valid", expiresAt: new Date(8.64e15) });
});

test.for<[string, Partial<TokenOptions>]>([
  ["the audience in a list", { audience: ["https://other.example", audience] }],
  ["an expiry within the tolerance", { lifetimeSeconds: -2 }],
  ["groups as one text", { claims: { groups: "modders" } }],
  ["no groups", { claims: { groups: undefined } }],
  ["scopes as a list in scp", { claims: { scope: undefined, scp: ["a", "b"] } }],
  ["no key id", { kid: null }],
])("a token with %s is accepted", async ([, options]) => {
  expect(await verdictOn(options)).toMatchObject({ kind: "valid" });
});

test.for<[string, Partial<TokenOptions>]>([
  ["another audience", { audience: "https://other.example" }],
  ["no audience", { claims: { aud: undefined } }],
  ["the audience with a trailing slash", { audience: `${audience}/` }],
  ["no expiry", { claims: { exp: undefined } }],
  ["an expiry in the past", { lifetimeSeconds: -6 }],
  ["an expiry that is text", { claims: { exp: "2999-01-01" } }],
  ["a start in the future", { claims: { nbf: Math.floor(Date.now() / 1000) + 60 } }],
  ["no subject", { claims: { sub: undefined } }],
  ["an empty subject", { subject: "" }],
  ["a subject that Postgres cannot keep", { subject: "al\u0000ice" }],
  ["a group that Postgres cannot keep", { groups: ["half \ud800"] }],
  ["more groups than a principal holds", { groups: Array.from({ length: 257 }, (_, index) => `g${index}`) }],
])("a token with %s is refused", async ([, options]) => {
  expect(await verdictOn(options)).toMatchObject({ kind: "invalid" });
});

test("an issuer that differs by a trailing slash is another issuer", async () => {
  verifier = createTokenVerifier([issuerConfig({ issuer: `${issuer.issuer}/` })]);
  expect(await verdictOn()).toMatchObject({ kind: "invalid" });
});

test("an unsigned token is refused", async () => {
  const token = `${unsigned({ alg: "none" }, claimsFor(issuer.issuer, { audience }))}.`;
  expect(await verifier(token)).toMatchObject({ kind: "invalid" });
});

test("a token signed with the public key as a shared secret is refused", async () => {
  const publicKey = await importJWK(issuer.publicJwk, "ES256");
  if (publicKey instanceof Uint8Array) throw new Error("an EC key is not bytes");
  const signed = unsigned({ alg: "HS256", kid: "key-1" }, claimsFor(issuer.issuer, { audience }));
  for (const secret of [await exportSPKI(publicKey), JSON.stringify(issuer.publicJwk)]) {
    const signature = createHmac("sha256", secret).update(signed).digest("base64url");
    expect(await verifier(`${signed}.${signature}`)).toMatchObject({ kind: "invalid" });
  }
});

test("an algorithm that the issuer is not configured for is refused, however well signed", async () => {
  verifier = createTokenVerifier([issuerConfig({ algorithms: ["RS256"] })]);
  expect(await verdictOn()).toMatchObject({ kind: "invalid" });
});

test("a key that is meant for encryption signs nothing", async () => {
  await issuer.rotate({ use: "enc" });
  expect(await verdictOn()).toMatchObject({ kind: "invalid" });
});

test("a token of another issuer's key is refused", async () => {
  const stranger = await startTestIssuer();
  try {
    const token = await stranger.token({ audience, claims: { iss: issuer.issuer } });
    expect(await verifier(token)).toMatchObject({ kind: "invalid" });
  } finally {
    await stranger.close();
  }
});

test("among several keys that fit a token without key id, the right one is found", async () => {
  const first = await issuer.token({ audience, kid: null });
  await issuer.rotate();
  expect(await verifier(first)).toMatchObject({ kind: "valid" });
  expect(await verdictOn({ kid: null })).toMatchObject({ kind: "valid" });
});

test("text that is no token at all is refused", async () => {
  for (const token of ["x", "a.b.c", "..", `${"a".repeat(5000)}.${"b".repeat(5000)}.c`]) {
    expect(await verifier(token)).toMatchObject({ kind: "invalid" });
  }
});

test("an issuer out of reach makes no verdict", async () => {
  issuer.mode = "fail";
  expect(await verdictOn()).toMatchObject({ kind: "unavailable" });
});

import { request } from "node:http";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDevIssuer, type DevIssuer } from "./issuer-server.ts";
import { algorithms, generateSigningKeys, type SigningKey } from "./signing-keys.ts";
import { signToken } from "./sign-token.ts";

const audience = "http://127.0.0.1:8400/mcp";
let keys: SigningKey[];
let issuer: DevIssuer;

beforeAll(async () => {
  keys = await generateSigningKeys();
  issuer = await startDevIssuer({ port: 0, keys, audience, isProduction: false });
});
afterAll(async () => {
  await issuer.stop();
});

describe("the development issuer", () => {
  test.each(algorithms)("signs %s tokens that a verifier accepts by nothing but the published keys", async (algorithm) => {
    const { token } = await signToken(
      { url: issuer.url, keys },
      { subject: "mara", scopes: ["hoi4:read", "hoi4:write"], groups: ["cartographers"], audience, ttlSeconds: 60, algorithm },
    );
    const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(issuer.jwksUrl)), {
      issuer: issuer.url,
      audience,
      algorithms: [algorithm],
      typ: "at+jwt",
      requiredClaims: ["exp", "iat", "jti"],
    });
    expect(protectedHeader.alg).toBe(algorithm);
    expect(payload).toMatchObject({ sub: "mara", scope: "hoi4:read hoi4:write", groups: ["cartographers"] });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  });

  test("publishes no private member of a key, and lets the set be cached", async () => {
    const response = await fetch(issuer.jwksUrl);
    expect(response.headers.get("cache-control")).toMatch(/^public, max-age=\d+$/u);
    const { keys: published } = (await response.json()) as { keys: Record<string, string>[] };
    expect(new Set(published.map(({ alg }) => alg))).toEqual(new Set(algorithms));
    const allowed = new Set(["kty", "crv", "x", "y", "n", "e", "alg", "kid", "use"]);
    expect(published.flatMap(Object.keys).filter((member) => !allowed.has(member))).toEqual([]);
  });

  test.each(["openid-configuration", "oauth-authorization-server"])("describes itself in %s as its tokens do", async (document) => {
    const description = (await (await fetch(`${issuer.url}/.well-known/${document}`)).json()) as Record<string, unknown>;
    expect(description).toMatchObject({ issuer: issuer.url, jwks_uri: issuer.jwksUrl, token_endpoint: `${issuer.url}/token` });
  });

  test("gives a token of a quarter of an hour to a form that asks for nothing special, and forbids keeping the answer", async () => {
    const response = await ask({ grant_type: "client_credentials", subject: "mara", scope: "hoi4:read" });
    expect(response.headers.get("cache-control")).toBe("no-store");
    const answer = (await response.json()) as { access_token: string; token_type: string; expires_in: number };
    expect(answer).toMatchObject({ token_type: "Bearer", scope: "hoi4:read" });
    const { payload } = await jwtVerify(answer.access_token, createRemoteJWKSet(new URL(issuer.jwksUrl)), { audience });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900);
    expect(decodeProtectedHeader(answer.access_token).alg).toBe("ES256");
  });

  test.each([
    [{ ttl: "0" }, "ttlSeconds"],
    [{ ttl: "9999999" }, "ttlSeconds"],
    [{ ttl: "soon" }, "ttlSeconds"],
    [{ subject: "" }, "subject"],
    [{ algorithm: "none" }, "algorithm"],
    [{ resource: "not a url" }, "audience"],
    [{ grant_type: "password" }, "unsupported_grant_type"],
  ])("refuses the form %j and says why", async (form, reason) => {
    const response = await ask(form);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(reason);
  });

  test("refuses a body that is not a form, and one without an end", async () => {
    expect(
      (await fetch(`${issuer.url}/token`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } })).status,
    ).toBe(400);
    expect((await ask({ subject: "x".repeat(20_000) })).status).toBe(400);
  });

  test.each([
    ["a browser", { origin: "http://127.0.0.1:8400" }],
    ["a name that merely resolves to this machine", { host: "rebound.example" }],
    ["a proxy", { "x-forwarded-for": "203.0.113.9" }],
    ["a proxy of the standard", { forwarded: "for=203.0.113.9" }],
  ])("answers nothing to %s", async (_who, headers) => {
    expect(await statusOf("/jwks", headers)).toBe(403);
    expect(await statusOf("/token", headers)).toBe(403);
  });

  test("refuses to start in production", async () => {
    await expect(startDevIssuer({ port: 0, keys, audience, isProduction: true })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^the development issuer refuses to start with NODE_ENV=production/u) as string,
    });
  });

  test("says in one sentence that its port is taken", async () => {
    const port = Number(new URL(issuer.url).port);
    await expect(startDevIssuer({ port, keys, audience, isProduction: false })).rejects.toMatchObject({
      exitCode: 2,
      message: `the port ${port} of the development issuer is in use by another process`,
    });
  });
});

async function ask(form: Record<string, string>): Promise<Response> {
  return await fetch(`${issuer.url}/token`, { method: "POST", body: new URLSearchParams(form) });
}

/** `fetch` sets Host and Origin itself, so these requests are made one level below it. */
async function statusOf(path: string, headers: Record<string, string>): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const method = path === "/token" ? "POST" : "GET";
    request(`${issuer.url}${path}`, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

import { afterEach, beforeEach, expect, test } from "vitest";
import { errors, jwtVerify, type JWTVerifyGetKey } from "jose";
import { startTestIssuer, type TestIssuer } from "../../../../test/support/tokens.ts";
import { createKeySet, KeySetUnavailable } from "./key-set.ts";

let issuer: TestIssuer;
let clock: number;

beforeEach(async () => {
  issuer = await startTestIssuer();
  clock = 0;
});
afterEach(async () => {
  await issuer.close();
});

function keySet(options: { timeoutMs?: number; maxBytes?: number } = {}): JWTVerifyGetKey {
  return createKeySet({
    url: issuer.jwksUrl,
    now: () => clock,
    cooldownMs: 10_000,
    refreshMs: 600_000,
    expireMs: 3_600_000,
    timeoutMs: 2000,
    ...options,
  });
}

async function verify(keys: JWTVerifyGetKey, kid?: string): Promise<unknown> {
  const token = await issuer.token({ audience: "x", ...(kid === undefined ? {} : { kid }) });
  return await jwtVerify(token, keys);
}

test("tokens of one key cost one fetch", async () => {
  const keys = keySet();
  await Promise.all([verify(keys), verify(keys), verify(keys)]);
  await verify(keys);
  expect(issuer.fetches).toBe(1);
});

test("a thousand invented key ids cost one more fetch for each cooldown", async () => {
  const keys = keySet();
  await verify(keys);
  clock += 10_000;
  const verdicts = await Promise.allSettled(Array.from({ length: 1000 }, async (_, index) => await verify(keys, `invented-${index}`)));
  expect(verdicts.every((verdict) => verdict.status === "rejected" && verdict.reason instanceof errors.JWKSNoMatchingKey)).toBe(true);
  expect(issuer.fetches).toBe(2);
  await verify(keys);
  expect(issuer.fetches).toBe(2);
});

test("a rotated key is accepted once the cooldown is over, and the older key stays good", async () => {
  const keys = keySet();
  const before = await issuer.token({ audience: "x" });
  await jwtVerify(before, keys);
  await issuer.rotate();
  await expect(verify(keys)).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey);
  clock += 10_000;
  await expect(verify(keys)).resolves.toBeDefined();
  await expect(jwtVerify(before, keys)).resolves.toBeDefined();
});

test("an issuer that fails is asked once in a cooldown, and nobody is let in meanwhile", async () => {
  issuer.mode = "fail";
  const keys = keySet();
  const verdicts = await Promise.allSettled(Array.from({ length: 50 }, async () => await verify(keys)));
  expect(verdicts.every((verdict) => verdict.status === "rejected" && verdict.reason instanceof KeySetUnavailable)).toBe(true);
  await expect(verify(keys)).rejects.toMatchObject({ retryAfterMs: 10_000 });
  expect(issuer.fetches).toBe(1);
  issuer.mode = "answer";
  clock += 10_000;
  await expect(verify(keys)).resolves.toBeDefined();
});

test("an issuer that hangs is given up after the time-out", async () => {
  issuer.mode = "hang";
  await expect(verify(keySet({ timeoutMs: 50 }))).rejects.toMatchObject({ cause: { name: "TimeoutError" } });
});

test("known keys keep working while the issuer is away, until they are too old to be believed", async () => {
  const keys = keySet();
  await verify(keys);
  issuer.mode = "fail";
  clock += 3_599_999;
  await expect(verify(keys)).resolves.toBeDefined();
  clock += 10_001;
  await expect(verify(keys)).rejects.toBeInstanceOf(KeySetUnavailable);
});

test("an unknown key id is no verdict on the token while the issuer is away", async () => {
  const keys = keySet();
  await verify(keys);
  await issuer.rotate();
  issuer.mode = "fail";
  clock += 10_000;
  await expect(verify(keys)).rejects.toBeInstanceOf(KeySetUnavailable);
});

test.for(["redirect", "flood"] as const)("a key set that answers with a %s is not believed", async (mode) => {
  issuer.mode = mode;
  await expect(verify(keySet({ maxBytes: 100_000 }))).rejects.toBeInstanceOf(KeySetUnavailable);
});

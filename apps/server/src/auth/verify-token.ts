import { decodeJwt, errors, jwtVerify } from "jose";
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from "jose";
import { isStorableText, principalSchema, type Principal } from "@holdfast/core";
import { z } from "zod";
import type { IssuerConfig } from "../config.ts";
import { createKeySet, KeySetUnavailable } from "./key-set.ts";

/** `reason` may be told to the caller: it says which check failed, never what the right value would be. */
export type TokenVerdict =
  | { readonly kind: "valid"; readonly principal: Principal; readonly expiresAt: Date }
  | { readonly kind: "invalid"; readonly reason: string }
  | { readonly kind: "unavailable"; readonly retryAfterMs: number; readonly cause: unknown };

export type VerifyToken = (token: string) => Promise<TokenVerdict>;

interface TrustedIssuer {
  readonly config: IssuerConfig;
  readonly keys: JWTVerifyGetKey;
}

/** Verifies access tokens of the configured issuers. Issuer, audience and algorithms are always explicit, `exp` and `sub` required. */
export function createTokenVerifier(
  issuers: readonly IssuerConfig[],
  keySet: (issuer: IssuerConfig) => JWTVerifyGetKey = ({ jwksUrl }) => createKeySet({ url: jwksUrl }),
): VerifyToken {
  const trusted = new Map<string, TrustedIssuer>(issuers.map((config) => [config.issuer, { config, keys: keySet(config) }]));
  return async (token) => {
    const issuer = trusted.get(claimedIssuer(token) ?? "");
    if (issuer === undefined) return { kind: "invalid", reason: "The access token is not from an issuer that this service trusts." };
    try {
      const payload = await verifySignedClaims(token, issuer);
      return toVerdict(payload, issuer.config);
    } catch (error) {
      if (error instanceof KeySetUnavailable) return { kind: "unavailable", retryAfterMs: error.retryAfterMs, cause: error };
      if (error instanceof errors.JWTExpired) return { kind: "invalid", reason: "The access token has expired." };
      if (error instanceof errors.JOSEError) return { kind: "invalid", reason: describeClaim(error) };
      throw error;
    }
  };
}

/** Only chooses whose keys to try; the signature then covers the same claim. */
function claimedIssuer(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    return null;
  }
}

async function verifySignedClaims(token: string, { config, keys }: TrustedIssuer): Promise<JWTPayload> {
  const options: JWTVerifyOptions = {
    issuer: config.issuer,
    audience: config.audience,
    algorithms: [...config.algorithms],
    clockTolerance: config.clockToleranceSeconds,
    requiredClaims: ["exp", "sub"],
  };
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    // A set may hold several keys that fit a token without `kid`; the one that verifies it is the right one.
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (mismatch) {
        if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function describeClaim(error: errors.JOSEError): string {
  if (error instanceof errors.JWTClaimValidationFailed && /^[a-z]{2,8}$/u.test(error.claim))
    return `The access token's "${error.claim}" claim was not accepted.`.replaceAll('"', "'");
  return "The access token could not be verified.";
}

/** The last that a `Date` can be: beyond it a token that never ends would have an end that is no time at all. */
const LAST_SECOND = 8.64e12;

function toVerdict(payload: JWTPayload, config: IssuerConfig): TokenVerdict {
  const principal = principalSchema.safeParse({
    issuer: config.issuer,
    subject: payload.sub,
    groups: listClaim(payload[config.groupsClaim]),
    scopes: scopesOf(payload),
  });
  if (!principal.success) {
    const claim = principal.error.issues[0]?.path[0] ?? "claims";
    return { kind: "invalid", reason: `The access token's ${String(claim)} are outside of what this service accepts.` };
  }
  const { subject, groups, scopes } = principal.data;
  if (![subject, ...groups, ...scopes].every(isStorableText))
    return { kind: "invalid", reason: "The access token holds text that this service cannot keep." };
  // Required, or the token would not have been verified. What is tolerated of a clock counts here too.
  const expiresAt = new Date(Math.min((payload.exp ?? 0) + config.clockToleranceSeconds, LAST_SECOND) * 1000);
  return { kind: "valid", principal: principal.data, expiresAt };
}

/** `scope` is a list separated by spaces (RFC 9068); some issuers send `scp`, as a list or as text. */
function scopesOf(payload: JWTPayload): readonly string[] {
  return listClaim(payload["scope"] ?? payload["scp"]).flatMap((text) => text.split(" ").filter((scope) => scope !== ""));
}

const listSchema = z.union([z.array(z.string()), z.string().transform((text) => [text])]).catch([]);

function listClaim(value: unknown): readonly string[] {
  return listSchema.parse(value);
}

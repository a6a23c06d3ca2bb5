import { randomUUID } from "node:crypto";
import { importJWK, SignJWT } from "jose";
import { z } from "zod";
import { CommandError } from "../command.ts";
import { algorithms, type SigningKey } from "./signing-keys.ts";

/** Seconds. Long enough for an afternoon with an editor, short enough to leave no standing credential behind. */
const longestTtl = 24 * 60 * 60;
export const defaultTtlSeconds = 15 * 60;

/** What may be asked of the development issuer, over HTTP or on the command line. */
export const tokenRequestSchema = z.strictObject({
  subject: z.string().min(1, "a subject must not be empty").max(512),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/u, "a scope has no spaces and no quotes")).max(64),
  groups: z.array(z.string().min(1).max(256)).max(64),
  audience: z.url("an audience is the URL of the service"),
  ttlSeconds: z
    .number()
    .int()
    .min(1, "a token lives at least a second")
    .max(longestTtl, `a development token lives at most ${longestTtl / 3600} hours`),
  algorithm: z.enum(algorithms, `an algorithm is one of ${algorithms.join(", ")}`),
});
export type TokenRequest = z.infer<typeof tokenRequestSchema>;

export interface SignedToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** An access token as RFC 9068 shapes it; `groups` appears only when there are any. */
export async function signToken(issuer: { url: string; keys: readonly SigningKey[] }, request: TokenRequest): Promise<SignedToken> {
  const key = issuer.keys.find(({ alg }) => alg === request.algorithm);
  if (key === undefined) throw new CommandError(`the development issuer has no key for ${request.algorithm}`);
  const issuedAt = Math.floor(Date.now() / 1000);
  const expiresAt = issuedAt + request.ttlSeconds;
  const claims = {
    client_id: "holdfast-dev",
    scope: request.scopes.join(" "),
    ...(request.groups.length > 0 ? { groups: request.groups } : {}),
  };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt" })
    .setIssuer(issuer.url)
    .setSubject(request.subject)
    .setAudience(request.audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .setJti(randomUUID())
    .sign(await importJWK(key.jwk, key.alg));
  return { token, expiresAt: new Date(expiresAt * 1000) };
}

import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import { z } from "zod";

export const algorithms = ["ES256", "RS256"] as const;
export type Algorithm = (typeof algorithms)[number];

// What anybody may know of a key. Objects that are not strict drop what they do not name: secrets, when a key is read by these.
const publicEcKey = z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string() });
const publicRsaKey = z.object({ kty: z.literal("RSA"), n: z.string(), e: z.string() });
const rsaSecret = { d: z.string(), p: z.string(), q: z.string(), dp: z.string(), dq: z.string(), qi: z.string() };

/** A private key as a JSON Web Key (RFC 7517), named by its thumbprint (RFC 7638); how it is kept in a file, too. */
export const signingKeySchema = z.discriminatedUnion("alg", [
  z.object({ alg: z.literal("ES256"), kid: z.string().min(1), jwk: publicEcKey.extend({ d: z.string() }) }),
  z.object({ alg: z.literal("RS256"), kid: z.string().min(1), jwk: publicRsaKey.extend(rsaSecret) }),
]);
export type SigningKey = z.infer<typeof signingKeySchema>;

/** One new key for each algorithm. */
export async function generateSigningKeys(): Promise<SigningKey[]> {
  return await Promise.all(algorithms.map(generateSigningKey));
}

async function generateSigningKey(alg: Algorithm): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return signingKeySchema.parse({ alg, kid: await calculateJwkThumbprint(jwk), jwk });
}

/** The set that verifiers fetch: each key without its private members. */
export function publicKeySet(keys: readonly SigningKey[]): { readonly keys: readonly Record<string, string>[] } {
  return {
    keys: keys.map(({ alg, kid, jwk }) => ({ ...(jwk.kty === "EC" ? publicEcKey : publicRsaKey).parse(jwk), alg, kid, use: "sig" })),
  };
}

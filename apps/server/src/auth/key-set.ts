import { createLocalJWKSet, errors } from "jose";
import type { JWTVerifyGetKey } from "jose";
import { z } from "zod";

/** The issuer's keys cannot be had now, so nothing can be said about a token. */
export class KeySetUnavailable extends Error {
  override readonly name = "KeySetUnavailable";
  readonly retryAfterMs: number;

  constructor(url: string, options: { retryAfterMs: number; cause: unknown }) {
    super(`cannot read the key set ${url}`, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

export interface KeySetOptions {
  readonly url: string;
  /** Milliseconds since any fixed moment. */
  readonly now?: () => number;
  readonly timeoutMs?: number;
  /** The least time between two requests to the issuer, whatever tokens arrive. */
  readonly cooldownMs?: number;
  /** After this age keys are fetched again, in the background. */
  readonly refreshMs?: number;
  /** After this age keys are no longer believed, even if the issuer cannot be reached. */
  readonly expireMs?: number;
  readonly maxBytes?: number;
}

/**
 * The public keys of one issuer. An unknown key id leads to one more fetch, at most one per cooldown, so that a rotated
 * key is found and a flood of invented ids costs the issuer nothing. A failed fetch counts for the cooldown too: an issuer
 * that hangs is asked once, not once for every request. Keys already known keep working while it is away.
 */
export function createKeySet(options: KeySetOptions): JWTVerifyGetKey {
  const { url, now = performance.now.bind(performance), timeoutMs = 5000, cooldownMs = 10_000 } = options;
  const { refreshMs = 600_000, expireMs = 3_600_000, maxBytes = 262_144 } = options;
  let known: { readonly find: JWTVerifyGetKey; readonly at: number } | null = null;
  let lastTryAt = Number.NEGATIVE_INFINITY;
  let lastFailure: unknown = null;
  let pending: Promise<void> | null = null;

  async function fetchOnce(): Promise<void> {
    lastTryAt = now();
    try {
      known = { find: createLocalJWKSet(await fetchJwks(url, timeoutMs, maxBytes)), at: now() };
      lastFailure = null;
    } catch (error) {
      lastFailure = error;
    } finally {
      pending = null;
    }
  }

  /** Joins the fetch under way, starts one if the cooldown is over, and otherwise leaves things as they are. */
  async function refresh(): Promise<void> {
    if (pending === null && now() - lastTryAt >= cooldownMs) pending = fetchOnce();
    await pending;
  }

  function unavailable(): KeySetUnavailable {
    return new KeySetUnavailable(url, { retryAfterMs: Math.max(0, lastTryAt + cooldownMs - now()), cause: lastFailure });
  }

  return async (header, token) => {
    if (known === null || now() - known.at >= expireMs) {
      await refresh();
      if (known === null || now() - known.at >= expireMs) throw unavailable();
    } else if (now() - known.at >= refreshMs) {
      // Nobody waits for it; a failure shows when the keys expire.
      refresh().catch((error: unknown) => {
        lastFailure = error;
      });
    }
    const before = known;
    try {
      return await before.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
      if (known !== before) return await known.find(header, token);
      if (lastFailure !== null) throw unavailable();
      throw error;
    }
  };
}

const jwksSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(1000) });

async function fetchJwks(url: string, timeoutMs: number, maxBytes: number): Promise<z.infer<typeof jwksSchema>> {
  const response = await fetch(url, {
    // A redirect would let whoever answers choose whose keys we believe.
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: "application/jwk-set+json, application/json" },
  });
  if (response.status !== 200 || response.body === null) throw new Error(`the key set answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.byteLength;
    if (size > maxBytes) throw new Error(`the key set is larger than ${maxBytes} bytes`);
    chunks.push(read.value);
  }
  return jwksSchema.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
}

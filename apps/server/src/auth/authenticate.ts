import type { Principal } from "@holdfast/core";
import { challengeResponse } from "./challenge.ts";
import type { VerifyToken } from "./verify-token.ts";

export interface AuthenticateOptions {
  readonly verify: VerifyToken;
  readonly metadataUrl: string;
  readonly initialScopes: readonly string[];
}

/** Either who is calling and until when the token says so, or the answer that refuses. `cause` is for the log. */
export type Authentication =
  | { readonly kind: "principal"; readonly principal: Principal; readonly expiresAt: Date }
  | { readonly kind: "refused"; readonly response: Response; readonly cause: unknown };

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/iu;

/** From the Authorization header to the principal. No other part of the request can say who is calling. */
export async function authenticate(authorization: string | null | undefined, options: AuthenticateOptions): Promise<Authentication> {
  if (authorization === null || authorization === undefined || authorization === "")
    return refuse(options, null, "An access token is required.");
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) return refuse(options, "invalid_token", "The Authorization header is not of the form Bearer TOKEN.");
  const verdict = await options.verify(token);
  switch (verdict.kind) {
    case "valid":
      return { kind: "principal", principal: verdict.principal, expiresAt: verdict.expiresAt };
    case "invalid":
      return refuse(options, "invalid_token", verdict.reason);
    case "unavailable":
      return { kind: "refused", response: unavailableResponse(verdict.retryAfterMs), cause: verdict.cause };
  }
}

function refuse(options: AuthenticateOptions, error: "invalid_token" | null, description: string): Authentication {
  const response = challengeResponse({ status: 401, error, description, scopes: options.initialScopes, metadataUrl: options.metadataUrl });
  return { kind: "refused", response, cause: null };
}

function unavailableResponse(retryAfterMs: number): Response {
  return Response.json(
    { error: "temporarily_unavailable", error_description: "The issuer of the access token cannot be reached. Try again shortly." },
    { status: 503, headers: { "Retry-After": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) } },
  );
}

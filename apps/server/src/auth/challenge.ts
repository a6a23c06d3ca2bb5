/** What a client is told so that it can get (another) token: RFC 6750 section 3, with RFC 9728's pointer to the metadata. */
export interface Challenge {
  readonly status: 401 | 403;
  /** Null when no token was sent: RFC 6750 then asks for no error code. */
  readonly error: "invalid_token" | "insufficient_scope" | null;
  readonly description: string;
  /** All scopes that are needed, also those the token already has. */
  readonly scopes: readonly string[];
  readonly metadataUrl: string;
}

export function wwwAuthenticate({ error, description, scopes, metadataUrl }: Challenge): string {
  const parameters = [
    ...(error === null ? [] : [`error="${error}"`, `error_description="${quotable(description)}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${quotable(scopes.join(" "))}"`]),
    `resource_metadata="${quotable(metadataUrl)}"`,
  ];
  return `Bearer ${parameters.join(", ")}`;
}

export function challengeResponse(challenge: Challenge): Response {
  return Response.json(
    { error: challenge.error ?? "invalid_request", error_description: challenge.description },
    { status: challenge.status, headers: { "WWW-Authenticate": wwwAuthenticate(challenge) } },
  );
}

/** RFC 6750 allows neither quotes nor backslashes nor anything outside printable ASCII in these values. */
function quotable(text: string): string {
  return text.replaceAll(/[^\u0020-\u0021\u0023-\u005B\u005D-\u007E]/gu, " ");
}

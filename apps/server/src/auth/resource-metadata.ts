import type { OperationRegistry } from "@holdfast/core";
import type { ServerConfig } from "../config.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** OAuth 2.0 Protected Resource Metadata (RFC 9728): where clients learn which issuer to ask, and for what. */
export interface ResourceMetadata {
  readonly url: string;
  /** Paths under which it is served: at the root, and with the resource's own path appended (RFC 9728, 3.1). */
  readonly paths: readonly string[];
  readonly document: Readonly<Record<string, unknown>>;
}

export function describeResource(config: Pick<ServerConfig, "publicUrl" | "issuers">, registry: OperationRegistry): ResourceMetadata {
  const resource = new URL(config.publicUrl);
  const suffix = resource.pathname === "/" ? "" : resource.pathname;
  return {
    // From configuration, never from a Host or Forwarded header: those belong to whoever sends the request.
    url: `${resource.origin}${WELL_KNOWN}${suffix}`,
    paths: [...new Set([WELL_KNOWN, `${WELL_KNOWN}${suffix}`, `${WELL_KNOWN}/mcp`])],
    document: {
      resource: config.publicUrl,
      resource_name: "Holdfast",
      authorization_servers: config.issuers.map(({ issuer }) => issuer),
      bearer_methods_supported: ["header"],
      scopes_supported: scopesOf(registry, () => true),
    },
  };
}

/** The scopes to ask for at first: those of the operations that change nothing. More is asked for when it is needed. */
export function initialScopes(registry: OperationRegistry): readonly string[] {
  return scopesOf(registry, ({ effect }) => effect === "read");
}

function scopesOf(registry: OperationRegistry, wanted: (operation: { effect: "read" | "write" }) => boolean): readonly string[] {
  return [...new Set([...registry.values()].filter(wanted).flatMap(({ scopes }) => scopes))].toSorted();
}

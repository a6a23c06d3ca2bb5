import { AppError, type JsonObject, type Principal } from "@holdfast/core";

/** Who is calling, in which request, and what it declared that it can do. */
export interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  /** Whether it can take a task for an answer. */
  readonly declaresTasks: boolean;
  /** Client capabilities of this request, as MCP spells them. */
  readonly capabilities: JsonObject;
}

/** Throws `AppError` "insufficient_scope", naming all that are needed. */
export function requireScopes({ principal }: Pick<Caller, "principal">, scopes: readonly string[]): void {
  if (scopes.every((scope) => principal.scopes.includes(scope))) return;
  throw new AppError("insufficient_scope", `the token carries [${principal.scopes.join(" ")}], needed are [${scopes.join(" ")}]`, {
    data: { scopes },
  });
}

import { createHmac } from "node:crypto";
import { parseWorkspaceId, taskIdSchema, type Principal, type TaskId, type WorkspaceId } from "@holdfast/core";
import { isSameText, type Key } from "@holdfast/process";

/**
 * Which protocol a handle was given out by: `m` for 2026-07-28, `l` for the revisions from 2025. A handle of one generation is unknown to
 * the other (contract 3.2).
 */
export type HandleGeneration = "m" | "l";

export interface HandleScope {
  readonly generation: HandleGeneration;
  readonly principal: Pick<Principal, "issuer" | "subject">;
}

export interface TaskAddress {
  readonly workspaceId: WorkspaceId;
  readonly taskId: TaskId;
}

/** Task ids as clients hold them. They look opaque and are bound to whom they were given. */
export interface TaskHandles {
  sign(scope: HandleScope, address: { readonly workspaceId: string; readonly taskId: TaskId }): string;
  /** Null for everything that `sign` did not make for exactly this scope. */
  open(scope: HandleScope, handle: string): TaskAddress | null;
}

const HANDLE = /^([a-z])\.([A-Za-z0-9_-]{1,16})\.([a-z][a-z0-9_-]{0,63})\.([0-9a-f-]{36})\.[A-Za-z0-9_-]{43}$/u;

/**
 * `generation.key.workspace.task.signature`, the signature being an HMAC-SHA256 over all of it and over the principal. So a
 * handle that was altered, cut, taken from another task or from another principal is refused before anything is read or
 * written, and only then is the database asked.
 *
 * About timing (contract 2.4): what an outsider can try never passes the signature, and answers alike after the same work
 * whether or not such a task exists. Past the signature stands only the owner, who may learn that the task has expired.
 */
export function createTaskHandles(keys: readonly Key[]): TaskHandles {
  const [signingKey] = keys;
  if (signingKey === undefined) throw new Error("task handles need at least one key");
  const keyById = new Map(keys.map((key) => [key.id, key]));
  return {
    sign: (scope, { workspaceId, taskId }) => seal(signingKey, scope, workspaceId, taskId),
    open: (scope, handle) => {
      const [, generation, keyId = "", workspace = "", task = ""] = HANDLE.exec(handle) ?? [];
      const key = keyById.get(keyId);
      const workspaceId = parseWorkspaceId(workspace);
      const taskId = taskIdSchema.safeParse(task);
      if (generation !== scope.generation || key === undefined || workspaceId === null || !taskId.success) return null;
      // Comparing whole handles also refuses a second spelling of the same signature: its last character has two spare bits.
      return isSameText(seal(key, scope, workspaceId, taskId.data), handle) ? { workspaceId, taskId: taskId.data } : null;
    },
  };
}

function seal(key: Key, { generation, principal }: HandleScope, workspaceId: string, taskId: TaskId): string {
  // As a JSON list, so that no two scopes run together into one text.
  const signed = JSON.stringify(["holdfast task handle", generation, key.id, principal.issuer, principal.subject, workspaceId, taskId]);
  const signature = createHmac("sha256", key.secret).update(signed).digest("base64url");
  return `${generation}.${key.id}.${workspaceId}.${taskId}.${signature}`;
}

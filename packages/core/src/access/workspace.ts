import { z } from "zod";

/** A workspace's name is its id: chosen by an operator, shown to people, part of artifact addresses. */
export const workspaceIdSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,63}$/u, "a workspace id is a lower-case letter followed by up to 63 of a-z, 0-9, _ and -");
const brandedWorkspaceIdSchema = workspaceIdSchema.brand<"WorkspaceId">();
export type WorkspaceId = z.infer<typeof brandedWorkspaceIdSchema>;

/** What a grant allows in a workspace. `run` submits and cancels read operations, `write` those that change files, `read` looks. */
export const ACTIONS = ["read", "run", "write"] as const;
export const actionSchema = z.enum(ACTIONS);
export type Action = z.infer<typeof actionSchema>;

export function parseWorkspaceId(text: string): WorkspaceId | null {
  const parsed = brandedWorkspaceIdSchema.safeParse(text);
  return parsed.success ? parsed.data : null;
}

import type { JsonObject, WorkspaceError } from "@holdfast/core";

/** Why a call cannot be answered, or nothing was changed. */
export interface Blocker {
  /** UPPER_SNAKE and stable. */
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** The folder of the mod as a whole cannot be read. */
export function unreachable({ code, path }: WorkspaceError): Blocker {
  const folder = path === "" ? "The folder of the mod" : `"${path}" in the folder of the mod`;
  switch (code) {
    case "missing":
      return {
        code: "WORKSPACE_MISSING",
        message: `${folder} does not exist. Has it been moved or renamed since the workspace was set up?`,
      };
    case "unreadable":
      return { code: "WORKSPACE_UNREADABLE", message: `${folder} cannot be opened by the service. Check its permissions.` };
    case "outside":
      return { code: "WORKSPACE_OUTSIDE", message: `${folder} is a link that leads somewhere else, which is not followed.` };
  }
}

import { createHash } from "node:crypto";
import {
  formatArtifactUri,
  parseWorkspaceId,
  type ArtifactFile,
  type OperationContext,
  type ProgressReport,
  type WorkspaceView,
} from "@holdfast/core";

/** What an operation did with its context, for a test to look at. */
export interface RecordingContext extends OperationContext {
  readonly reports: readonly ProgressReport[];
  readonly artifacts: readonly ArtifactFile[];
}

/** A context without a service behind it: it keeps what it is given. */
export function recordingContext(
  workspace: WorkspaceView,
  { signal = new AbortController().signal }: { signal?: AbortSignal } = {},
): RecordingContext {
  const reports: ProgressReport[] = [];
  const artifacts: ArtifactFile[] = [];
  const workspaceId = parseWorkspaceId(workspace.id);
  if (workspaceId === null) throw new Error(`"${workspace.id}" is no workspace id`);
  return {
    signal,
    workspace,
    reports,
    artifacts,
    progress: (report) => {
      reports.push(report);
    },
    artifact: (file) => {
      artifacts.push(file);
      const sha256 = createHash("sha256").update(file.bytes).digest("hex");
      const { name, mimeType, title, bytes } = file;
      return Promise.resolve({
        uri: formatArtifactUri({ workspaceId, sha256, name }),
        name,
        mimeType,
        size: bytes.length,
        ...(title === undefined ? {} : { title }),
      });
    },
  };
}

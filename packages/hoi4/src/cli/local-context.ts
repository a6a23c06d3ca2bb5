import { createHash } from "node:crypto";
import { formatArtifactUri, parseWorkspaceId, type ArtifactFile, type OperationContext, type WorkspaceView } from "@holdfast/core";

/** The context of an operation that reads, without a service behind it: artifacts go to `keep`, and nothing is durable. */
export function localContext({
  workspace,
  signal,
  keep,
  report,
}: {
  workspace: WorkspaceView;
  signal: AbortSignal;
  keep: (file: ArtifactFile) => Promise<void>;
  report: OperationContext["progress"];
}): OperationContext {
  const workspaceId = parseWorkspaceId(workspace.id);
  if (workspaceId === null) throw new Error(`"${workspace.id}" is no workspace id`);
  return {
    signal,
    workspace,
    progress: report,
    artifact: async (file) => {
      await keep(file);
      const { name, mimeType, title, bytes } = file;
      const uri = formatArtifactUri({ workspaceId, sha256: createHash("sha256").update(bytes).digest("hex"), name });
      return { uri, name, mimeType, size: bytes.length, ...(title === undefined ? {} : { title }) };
    },
    checkpoint: { load: () => null, save: () => Promise.resolve() },
    step: (_key, work) => work(),
    input: () => Promise.reject(new Error("a question of an operation needs the service to carry it")),
    transaction: () => Promise.reject(new Error("files are written by the service only, which keeps a journal of it")),
  };
}

import { createHash } from "node:crypto";
import { artifactNameSchema, formatArtifactUri, parseWorkspaceId, type ArtifactFile, type ArtifactLink } from "@holdfast/core";
import type { Exchange } from "./exchange.ts";
import { inPieces } from "./pieces.ts";

/** Hands the artifacts of one run to the parent, one after the other. */
export function createArtifactSender(options: {
  readonly exchange: Exchange;
  readonly run: number;
  readonly workspaceId: string;
  /** Bytes of all artifacts of the run together. */
  readonly maxBytes: number;
}): (file: ArtifactFile) => Promise<ArtifactLink> {
  const { exchange, run, maxBytes } = options;
  const workspaceId = parseWorkspaceId(options.workspaceId);
  let spentBytes = 0;

  return (file) => {
    const { bytes, mimeType, title } = file;
    if (bytes.length > maxBytes - spentBytes)
      return Promise.reject(
        new RangeError(
          `artifact "${file.name}" of ${bytes.length} bytes exceeds the ${maxBytes - spentBytes} bytes that the operation has left`,
        ),
      );
    spentBytes += bytes.length;
    return exchange.turn(async (line) => {
      if (workspaceId === null) throw new Error(`"${options.workspaceId}" is no workspace id`);
      const name = artifactNameSchema.parse(file.name);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      await line.ask({ kind: "artifact", run, name, mimeType, title: title ?? null, size: bytes.length, sha256 });
      await line.askWithBytes(inPieces([bytes]));
      const uri = formatArtifactUri({ workspaceId, sha256, name });
      return { uri, name, mimeType, size: bytes.length, ...(title === undefined ? {} : { title }) };
    });
  };
}

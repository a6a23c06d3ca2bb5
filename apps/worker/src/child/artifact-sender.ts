import { createHash } from "node:crypto";
import { artifactNameSchema, formatArtifactUri, parseWorkspaceId, type ArtifactFile, type ArtifactLink } from "@holdfast/core";
import { CHUNK_BYTES } from "../sandbox/frames.ts";
import type { Channel } from "./channel.ts";

/** Hands the artifacts of one run to the parent, one after the other. */
export interface ArtifactSender {
  send(file: ArtifactFile): Promise<ArtifactLink>;
  /** The parent's word on the artifact under way. */
  admitted(): void;
  stored(): void;
  /** Waits for those under way and refuses new ones. */
  close(): Promise<void>;
}

export function createArtifactSender(options: {
  readonly channel: Channel;
  readonly run: number;
  readonly workspaceId: string;
  /** Bytes of all artifacts of the run together. */
  readonly maxBytes: number;
}): ArtifactSender {
  const { channel, run, maxBytes } = options;
  const workspaceId = parseWorkspaceId(options.workspaceId);
  let queue: Promise<unknown> = Promise.resolve();
  let spentBytes = 0;
  let closed = false;
  let admission = Promise.withResolvers<void>();
  let storage = Promise.withResolvers<void>();

  async function transfer(file: ArtifactFile): Promise<ArtifactLink> {
    if (workspaceId === null) throw new Error(`"${options.workspaceId}" is no workspace id`);
    const { bytes, mimeType, title } = file;
    const name = artifactNameSchema.parse(file.name);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    admission = Promise.withResolvers();
    storage = Promise.withResolvers();
    await channel.send({ kind: "artifact", run, name, mimeType, title: title ?? null, size: bytes.length, sha256 });
    await admission.promise;
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) await channel.sendBytes(bytes.subarray(at, at + CHUNK_BYTES));
    await storage.promise;
    const uri = formatArtifactUri({ workspaceId, sha256, name });
    return { uri, name, mimeType, size: bytes.length, ...(title === undefined ? {} : { title }) };
  }

  return {
    send(file) {
      if (closed) return Promise.reject(new Error(`artifact "${file.name}" came after the operation had answered`));
      if (file.bytes.length > maxBytes - spentBytes)
        return Promise.reject(
          new RangeError(
            `artifact "${file.name}" of ${file.bytes.length} bytes exceeds the ${maxBytes - spentBytes} bytes that the operation has left`,
          ),
        );
      spentBytes += file.bytes.length;
      const sent = queue.then(() => transfer(file));
      queue = sent.catch(() => undefined);
      return sent;
    },
    admitted: () => admission.resolve(),
    stored: () => storage.resolve(),
    async close() {
      closed = true;
      await queue;
    },
  };
}

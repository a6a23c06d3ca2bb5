import { AppError, formatArtifactUri, parseArtifactUri, type ArtifactAddress, type Principal } from "@holdfast/core";

/** What one read may return, in bytes; a longer range is cut and continued. */
export const MAX_RANGE_BYTES = 1024 * 1024;

/** One range of an artifact. `next` addresses the range after it, null at the end. */
export interface ArtifactRange {
  readonly uri: string;
  readonly mediaType: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** The bytes as text, null unless the artifact is text and no character is cut at either end. */
  readonly text: string | null;
  readonly totalBytes: number;
  readonly next: string | null;
}

export interface ArtifactService {
  /** Rejects with `AppError` "artifact_not_found" for everything the principal cannot read, whatever the reason. */
  read(principal: Principal, uri: string): Promise<ArtifactRange>;
}

/** The read of the store, with its grant check inside; null when there is nothing, or nothing for this principal. */
export type ReadArtifact = (request: {
  readonly principal: Principal;
  readonly address: ArtifactAddress;
  readonly offset: number;
  readonly length: number;
}) => Promise<{ readonly bytes: Uint8Array; readonly totalBytes: number; readonly mediaType: string } | null>;

export function createArtifactService(read: ReadArtifact): ArtifactService {
  return {
    read: async (principal, uri) => {
      const notFound = (): AppError => new AppError("artifact_not_found", "no such artifact, or no grant to read it", { data: { uri } });
      const parsed = parseArtifactUri(uri);
      if (parsed === null) throw notFound();
      const { address, offset = 0, length = MAX_RANGE_BYTES } = parsed;
      const found = await read({ principal, address, offset, length: Math.min(length, MAX_RANGE_BYTES) });
      if (found === null) throw notFound();
      const { bytes, totalBytes, mediaType } = found;
      const end = offset + bytes.byteLength;
      const isLast = end >= totalBytes || bytes.byteLength === 0;
      return {
        uri,
        mediaType,
        offset,
        bytes,
        text: isText(mediaType) ? decodeWhole(bytes) : null,
        totalBytes,
        next: isLast ? null : formatArtifactUri(address, { offset: end, length: Math.min(length, MAX_RANGE_BYTES) }),
      };
    },
  };
}

function isText(mediaType: string): boolean {
  const essence = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence.startsWith("text/") || essence === "application/json" || essence.endsWith("+json") || essence === "image/svg+xml";
}

/** A byte order mark is part of the artifact, so it stays in the text. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeWhole(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

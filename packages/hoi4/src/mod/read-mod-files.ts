import { createHash } from "node:crypto";
import { WorkspaceError, type OperationContext, type WorkspaceFile, type WorkspaceView } from "@holdfast/core";
import type { Pace } from "../pace.ts";
import { displayPath, type ModFile, type ModListing } from "./list-mod-files.ts";
import { NO_DESCRIPTOR, readDescriptor, type Descriptor } from "./descriptor.ts";
import { definableKinds } from "./scan-folders.ts";
import { sha256Of } from "../sha256.ts";

/** The bytes of a mod as one scan saw them. */
export interface ModSnapshot {
  /** In load order, without those that were skipped. */
  readonly files: readonly LoadedFile[];
  readonly descriptor: Descriptor;
  readonly skipped: readonly SkippedSource[];
  /** Names the state of everything read: path, layer, load order and content of each file. Lower-case hexadecimal SHA-256. */
  readonly revision: string;
}

export interface LoadedFile {
  readonly file: ModFile;
  readonly bytes: Uint8Array;
}

/** A file that a result does not cover, and what could be in it. */
export interface SkippedSource {
  readonly path: string;
  readonly reasonCodes: readonly SkipReason[];
  readonly possibleSymbolKinds: readonly string[];
}

export type SkipReason =
  | "FILE_TOO_LARGE"
  | "SCRIPT_TOO_LARGE"
  | "FILE_UNREADABLE"
  | "FILE_VANISHED"
  | "FILE_OUTSIDE_WORKSPACE"
  | "STRUCTURE_NOT_READ"
  | "GRAPH_LIMIT";

/** A file that was opened and whose structure could not be read to its end. */
export function partlyRead({ displayPath: path, role }: ModFile): SkippedSource {
  return { path, reasonCodes: ["STRUCTURE_NOT_READ"], possibleSymbolKinds: definableKinds(role) };
}

/** Bytes, but for `files`. */
export interface ScanLimits {
  readonly files: number;
  readonly totalBytes: number;
  readonly fileBytes: number;
  readonly scriptBytes: number;
}

const MIB = 1024 * 1024;
export const SCAN_LIMITS: ScanLimits = { files: 20_000, totalBytes: 128 * MIB, fileBytes: 64 * MIB, scriptBytes: 8 * MIB };

/** The whole scan is refused, because a part of a mod would pass for the mod. */
export interface ScanRefusal {
  readonly code: "SCAN_FILE_LIMIT" | "SCAN_BYTE_LIMIT";
  readonly message: string;
}

/** Reads and hashes every listed file; `limits` are arguments for tests. */
export async function readModFiles({
  context,
  listing,
  pace,
  limits = SCAN_LIMITS,
  onRead,
}: {
  context: Pick<OperationContext, "workspace" | "signal">;
  listing: ModListing;
  pace: Pace;
  limits?: ScanLimits;
  onRead: (done: number) => void;
}): Promise<ModSnapshot | ScanRefusal> {
  const refusal = refuse(listing, limits);
  if (refusal !== null) return refusal;
  const revision = createHash("sha256");
  const files: LoadedFile[] = [];
  const skipped: SkippedSource[] = [];
  let totalBytes = 0;
  for (let from = 0; from < listing.files.length; from += READS_AT_ONCE) {
    const batch = await Promise.all(
      listing.files.slice(from, from + READS_AT_ONCE).map((file) => readOne(context.workspace, file, limits)),
    );
    for (const { file, bytes, skip } of batch) {
      totalBytes += bytes?.length ?? 0;
      // A listing can be older than the files: what was really read decides.
      if (totalBytes > limits.totalBytes) return byteRefusal(limits);
      revision.update(revisionLine(file, bytes));
      if (skip !== null) skipped.push({ path: file.displayPath, reasonCodes: [skip], possibleSymbolKinds: definableKinds(file.role) });
      else if (bytes !== null) files.push({ file, bytes });
    }
    onRead(from + batch.length);
    await pace();
  }
  const descriptor = await loadDescriptor(context.workspace, listing, limits);
  if (descriptor.skip !== null) skipped.push(descriptor.skip);
  revision.update(descriptor.line);
  return { files, descriptor: descriptor.descriptor, skipped, revision: revision.digest("hex") };
}

const READS_AT_ONCE = 16;

function refuse({ files }: ModListing, limits: ScanLimits): ScanRefusal | null {
  if (files.length > limits.files)
    return {
      code: "SCAN_FILE_LIMIT",
      message: `The mod has ${files.length} files that matter for events; at most ${limits.files} are scanned. Is the folder really one mod?`,
    };
  const bytes = files.reduce((sum, { size }) => sum + (size > limits.fileBytes ? 0 : size), 0);
  return bytes > limits.totalBytes ? byteRefusal(limits) : null;
}

function byteRefusal(limits: ScanLimits): ScanRefusal {
  return {
    code: "SCAN_BYTE_LIMIT",
    message: `The files that matter for events are larger than ${mebibytes(limits.totalBytes)} together, which is as much as one scan reads. Is the folder really one mod?`,
  };
}

function mebibytes(bytes: number): string {
  return `${Number((bytes / MIB).toFixed(1))} MiB`;
}

interface Read {
  /** Null when nothing was read. */
  readonly bytes: Uint8Array | null;
  readonly skip: SkipReason | null;
}

async function readOne(workspace: WorkspaceView, file: ModFile, limits: ScanLimits): Promise<Read & { file: ModFile }> {
  const { bytes, skip } = await readWithin(workspace, file, { maxBytes: limits.fileBytes, reason: "FILE_TOO_LARGE" });
  const isParsed = file.role.kind !== "localisation";
  return { file, bytes, skip: isParsed && bytes !== null && bytes.length > limits.scriptBytes ? "SCRIPT_TOO_LARGE" : skip };
}

async function readWithin(
  workspace: WorkspaceView,
  { path, size }: WorkspaceFile,
  { maxBytes, reason }: { maxBytes: number; reason: SkipReason },
): Promise<Read> {
  if (size > maxBytes) return { bytes: null, skip: reason };
  try {
    const bytes = await workspace.read(path);
    return bytes.length > maxBytes ? { bytes: null, skip: reason } : { bytes, skip: null };
  } catch (error) {
    if (error instanceof WorkspaceError) return { bytes: null, skip: SKIP_REASONS[error.code] };
    throw error;
  }
}

const SKIP_REASONS = { missing: "FILE_VANISHED", unreadable: "FILE_UNREADABLE", outside: "FILE_OUTSIDE_WORKSPACE" } as const;

/** JSON keeps the fields apart whatever characters a path has. Of a file that was not read, the size has to do. */
function revisionLine({ displayPath: path, layer, order, size }: Omit<ModFile, "role" | "path">, bytes: Uint8Array | null): string {
  const content = bytes === null ? `size:${size}` : sha256Of(bytes);
  return `${JSON.stringify([path, layer, order, content])}\n`;
}

async function loadDescriptor(
  workspace: WorkspaceView,
  { descriptor: listed, files }: ModListing,
  limits: ScanLimits,
): Promise<{ descriptor: Descriptor; skip: SkippedSource | null; line: string }> {
  if (listed === null) return { descriptor: NO_DESCRIPTOR, skip: null, line: "" };
  const path = displayPath(listed.path);
  const identity = { displayPath: path, layer: "mod", order: files.length, size: listed.size } as const;
  const { bytes, skip } = await readWithin(workspace, listed, { maxBytes: limits.scriptBytes, reason: "SCRIPT_TOO_LARGE" });
  return {
    descriptor: bytes === null ? NO_DESCRIPTOR : readDescriptor(path, bytes),
    skip: skip === null ? null : { path, reasonCodes: [skip], possibleSymbolKinds: ["replace_path"] },
    line: revisionLine(identity, bytes),
  };
}

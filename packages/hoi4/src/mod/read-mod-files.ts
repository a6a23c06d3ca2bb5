import { createHash } from "node:crypto";
import { WorkspaceError, type OperationContext, type WorkspaceView } from "@holdfast/core";
import type { Pace } from "../pace.ts";
import { sha256Of } from "../sha256.ts";
import { overriddenByMod, type ModFile, type ModListing } from "./list-mod-files.ts";
import { definableKinds } from "./scan-folders.ts";
import { FILE_FAULTS, type SkippedSource, type SkipReason } from "./skipped-source.ts";

export interface LoadedFile {
  readonly file: ModFile;
  readonly bytes: Uint8Array;
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string;
}

/** Reads files one after the other, so that a scan need not hold the bytes of all of them. */
export interface ModReader {
  /** Yields those of the files that could be read. Ends early once the bounds of a scan are crossed, which `finish` then says. */
  read(files: readonly ModFile[]): AsyncGenerator<LoadedFile>;
  /** What was read, once every file of the listing has been asked for, with those that the mod's files stand for. */
  finish(): ReadRecord | ScanRefusal;
}

export interface ReadRecord {
  readonly skipped: readonly SkippedSource[];
  /** Names the state of everything read: path, layer, load order and content of each file. Lower-case hexadecimal SHA-256. */
  readonly revision: string;
}

/** Bytes, but for `files`. The first two hold for each layer by itself; all layers together may have three times as much. */
export interface ScanLimits {
  readonly files: number;
  readonly totalBytes: number;
  readonly fileBytes: number;
  readonly scriptBytes: number;
}

const MIB = 1024 * 1024;
export const SCAN_LIMITS: ScanLimits = { files: 20_000, totalBytes: 128 * MIB, fileBytes: 64 * MIB, scriptBytes: 8 * MIB };
const ALL_LAYERS = 3;

/** The whole scan is refused, because a part of a mod would pass for the mod. */
export interface ScanRefusal {
  readonly code: "SCAN_FILE_LIMIT" | "SCAN_BYTE_LIMIT";
  readonly message: string;
}

/** Every byte is read and hashed anew, whatever size and times a file has; `limits` are arguments for tests. */
export function openModFiles({
  context: { workspace },
  listing,
  pace,
  limits = SCAN_LIMITS,
  onRead = () => undefined,
}: {
  context: Pick<OperationContext, "workspace">;
  listing: ModListing;
  pace: Pace;
  limits?: ScanLimits;
  /** Called after each file, also one that could not be read, with what all files so far had in bytes. */
  onRead?: (done: { readonly files: number; readonly bytes: number }) => void;
}): ModReader | ScanRefusal {
  let refusal = refuse([...listing.files, ...overriddenByMod(listing).map(({ file }) => file)], limits);
  if (refusal !== null) return refusal;
  const contents = new Map<number, string>();
  const skipped: { readonly order: number; readonly source: SkippedSource }[] = [];
  const bytesOf = new Map<string, number>();
  let bytesRead = 0;
  return {
    async *read(files) {
      for (let from = 0; from < files.length && refusal === null; from += READS_AT_ONCE) {
        const batch = await Promise.all(files.slice(from, from + READS_AT_ONCE).map((file) => readOne(workspace, file, limits)));
        for (const { file, bytes, skip } of batch) {
          // A listing can be older than the files: what was really read decides.
          const ofLayer = (bytesOf.get(file.layer) ?? 0) + (bytes?.length ?? 0);
          bytesOf.set(file.layer, ofLayer);
          bytesRead += bytes?.length ?? 0;
          if (ofLayer > limits.totalBytes || bytesRead > ALL_LAYERS * limits.totalBytes) {
            refusal = byteRefusal(limits);
            return;
          }
          // Of a file that was not read, the size has to do.
          const content = bytes === null ? `size:${file.size}` : sha256Of(bytes);
          contents.set(file.order, content);
          if (skip !== null) skipped.push({ order: file.order, source: skippedFile(file, skip) });
          else if (bytes !== null) yield { file, bytes, sha256: content };
          onRead({ files: contents.size, bytes: bytesRead });
          await pace();
        }
      }
    },
    finish() {
      if (refusal !== null) return refusal;
      const inOrder = skipped.toSorted((a, b) => a.order - b.order).map(({ source }) => source);
      return { skipped: [...inOrder, ...listing.skipped], revision: revisionOf(listing, contents) };
    },
  };
}

const READS_AT_ONCE = 16;

/** The bytes of all files at once, for a tool that reads few. */
export async function readModFiles(
  options: Parameters<typeof openModFiles>[0],
): Promise<(ReadRecord & { readonly files: readonly LoadedFile[] }) | ScanRefusal> {
  const reader = openModFiles(options);
  if ("code" in reader) return reader;
  const files: LoadedFile[] = [];
  for await (const loaded of reader.read(options.listing.files)) files.push(loaded);
  const record = reader.finish();
  return "code" in record ? record : { ...record, files };
}

function refuse(files: readonly ModFile[], limits: ScanLimits): ScanRefusal | null {
  const layers = [...Map.groupBy(files, ({ layer }) => layer)];
  const crowded = layers.find(([, own]) => own.length > limits.files) ?? (files.length > ALL_LAYERS * limits.files ? ["all", files] : null);
  if (crowded !== null) {
    const [label, { length }] = crowded;
    const whose = label === "mod" ? "The mod has" : label === "all" ? "The layers have" : `The layer ${label} has`;
    return {
      code: "SCAN_FILE_LIMIT",
      message: `${whose} ${length} files that matter for events; at most ${label === "all" ? ALL_LAYERS * limits.files : limits.files} are scanned. Is the folder really one mod?`,
    };
  }
  const bytesOf = (own: readonly ModFile[]) => own.reduce((sum, { size }) => sum + (size > limits.fileBytes ? 0 : size), 0);
  const isLarge = layers.some(([, own]) => bytesOf(own) > limits.totalBytes) || bytesOf(files) > ALL_LAYERS * limits.totalBytes;
  return isLarge ? byteRefusal(limits) : null;
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
  readonly file: ModFile;
  /** Null when nothing was read. */
  readonly bytes: Uint8Array | null;
  readonly skip: SkipReason | null;
}

async function readOne(workspace: WorkspaceView, file: ModFile, { fileBytes, scriptBytes }: ScanLimits): Promise<Read> {
  const tooLarge = { file, bytes: null, skip: "FILE_TOO_LARGE" } as const;
  if (file.size > fileBytes) return tooLarge;
  try {
    const bytes = file.proposed ?? (await workspace.read(file.path));
    if (bytes.length > fileBytes) return tooLarge;
    const isParsed = file.role.kind !== "localisation";
    return { file, bytes, skip: isParsed && bytes.length > scriptBytes ? "SCRIPT_TOO_LARGE" : null };
  } catch (error) {
    if (error instanceof WorkspaceError) return { file, bytes: null, skip: FILE_FAULTS[error.code] };
    throw error;
  }
}

function skippedFile({ displayPath: path, role }: ModFile, reason: SkipReason): SkippedSource {
  return { path, reasonCodes: [reason], possibleSymbolKinds: definableKinds(role) };
}

/** JSON keeps the fields apart whatever characters a path has. */
function revisionOf(listing: ModListing, contents: ReadonlyMap<number, string>): string {
  const { files, layers, descriptors } = listing;
  const revision = createHash("sha256");
  for (const { displayPath, layer, order } of [...files, ...overriddenByMod(listing).map(({ file }) => file)])
    revision.update(`${JSON.stringify([displayPath, layer, order, contents.get(order) ?? null])}\n`);
  for (const [index, { displayPath, content }] of descriptors.entries())
    revision.update(`${JSON.stringify([displayPath, layers[index]?.label, content])}\n`);
  return revision.digest("hex");
}

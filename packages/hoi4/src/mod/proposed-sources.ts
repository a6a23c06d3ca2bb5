import { MOD_LAYER } from "./layer.ts";

/** A change of one file that a caller wants judged before it is made. */
export interface ProposedSource {
  /** Inside the mod: `events/a.txt`. */
  readonly relativePath: string;
  /** The whole new text; null stands for a deletion. */
  readonly source: string | null;
  /** SHA-256 of the file that the change was thought out for, in hexadecimal. */
  readonly expectedSourceHash?: string | undefined;
}

/** A change that has passed every test but those that need the file itself. */
export interface ProposedFile {
  readonly path: string;
  readonly bytes: Uint8Array | null;
  readonly expectedSha256: string | null;
}

/** Why changes are not looked at: a part of them would be judged as something else than the caller means. */
export interface ProposalRefusal {
  readonly code: ProposalRefusalCode;
  readonly message: string;
}

export type ProposalRefusalCode =
  | "PROPOSED_SOURCE_LIMIT"
  | "PROPOSED_BYTE_LIMIT"
  | "PROPOSED_PATH_INVALID"
  | "PROPOSED_EXTENSION_UNSUPPORTED"
  | "PROPOSED_PATH_REPEATED"
  | "PROPOSED_SOURCE_STALE"
  | "PROPOSED_SOURCE_MISSING";

/** Bytes, but for `files`. */
export interface ProposalLimits {
  readonly files: number;
  readonly fileBytes: number;
  readonly totalBytes: number;
}

const MIB = 1024 * 1024;
export const PROPOSAL_LIMITS: ProposalLimits = { files: 64, fileBytes: 8 * MIB, totalBytes: 64 * MIB };

/** Turns what a caller sent into files that can stand in for those of the mod; `limits` are arguments for other tools and for tests. */
export function checkProposal(
  sources: readonly ProposedSource[],
  limits: ProposalLimits = PROPOSAL_LIMITS,
): readonly ProposedFile[] | ProposalRefusal {
  if (sources.length > limits.files)
    return refuse("PROPOSED_SOURCE_LIMIT", `${sources.length} files are proposed; at most ${limits.files} are looked at in one call`);
  const files: ProposedFile[] = [];
  const taken = new Set<string>();
  let totalBytes = 0;
  for (const { relativePath, source, expectedSourceHash } of sources) {
    const path = relativePath.replace(LABEL, "");
    const shown = JSON.stringify(path.slice(0, 200));
    const fault = pathFault(path);
    if (fault !== null) return refuse("PROPOSED_PATH_INVALID", `${shown} ${fault}`);
    if (!EXTENSIONS.test(path))
      return refuse("PROPOSED_EXTENSION_UNSUPPORTED", `${shown} is no file that the game reads script or texts from`);
    if (taken.has(path.toLowerCase()))
      return refuse("PROPOSED_PATH_REPEATED", `${shown} is proposed twice; case does not tell paths apart`);
    taken.add(path.toLowerCase());
    const bytes = source === null ? null : encode(path, source);
    const size = bytes?.length ?? 0;
    totalBytes += size;
    if (size > limits.fileBytes) return refuse("PROPOSED_BYTE_LIMIT", `${shown} is larger than ${limits.fileBytes / MIB} MiB`);
    if (totalBytes > limits.totalBytes)
      return refuse("PROPOSED_BYTE_LIMIT", `the proposed files are larger than ${limits.totalBytes / MIB} MiB together`);
    files.push({ path, bytes, expectedSha256: expectedSourceHash?.toLowerCase() ?? null });
  }
  return files;
}

const LABEL = new RegExp(`^${MOD_LAYER}:`, "u");

const EXTENSIONS = /\.(?:txt|yml|csv|gui|gfx|asset|map|mod)$/iu;

/** What is wrong with a path that should lie inside the mod, as the end of a sentence. */
function pathFault(path: string): string | null {
  if (path.includes("\0")) return "has a NUL in it";
  if (path.includes("\\")) return 'has a "\\" in it; folders are parted by "/"';
  if (/^[a-z]:/iu.test(path)) return "begins with a drive; paths are those inside the mod";
  if (path.startsWith("/")) return "begins at the root of the file system; paths are those inside the mod";
  const segments = path.split("/");
  if (segments.includes("..")) return "leads out of the mod";
  if (segments.some((segment) => segment === "" || segment === ".")) return "has a folder without a name";
  return segments.slice(0, -1).some((segment) => segment.startsWith(".")) ? "lies in a hidden folder, which is no part of a mod" : null;
}

const BOM = "\uFEFF";

/** As a rewrite would store it: localisation has a byte order mark, which the game asks for. */
function encode(path: string, source: string): Uint8Array {
  const needsMark = /\.yml$/iu.test(path) && !source.startsWith(BOM);
  return Buffer.from(needsMark ? BOM + source : source);
}

function refuse(code: ProposalRefusalCode, reason: string): ProposalRefusal {
  return { code, message: `The proposed changes were not looked at: ${reason}.` };
}

/** The file on disk is another one than the proposal was made for. */
export function staleProposal(path: string, foundSha256: string | null): ProposalRefusal {
  const found = foundSha256 === null ? "it does not exist" : `its SHA-256 is ${foundSha256}`;
  return refuse("PROPOSED_SOURCE_STALE", `${path} is not the file that the change was thought out for; ${found}`);
}

/** There is nothing to delete. */
export function missingProposal(path: string): ProposalRefusal {
  return refuse("PROPOSED_SOURCE_MISSING", `${path} is to be deleted, and the mod has no such file`);
}

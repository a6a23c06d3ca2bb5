import { PLAN_BYTES, PLAN_FILES } from "./frames.ts";

/** What is wrong with the files of a plan, before anybody looks at the disk; null when nothing is. */
export function faultOfPlan(files: readonly { readonly path: string; readonly size: number | null }[]): string | null {
  if (files.length > PLAN_FILES) return `the plan changes ${files.length} files, more than ${PLAN_FILES}`;
  const bytes = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (bytes > PLAN_BYTES) return `the plan writes ${bytes} bytes, more than ${PLAN_BYTES}`;
  for (const { path } of files) {
    const fault = faultOfPath(path);
    if (fault !== null) return `the plan's path ${JSON.stringify(path)} ${fault}`;
  }
  return faultOfNames(files.map(({ path }) => path));
}

/** As the view of a workspace reads paths: relative, downwards, and through no hidden folder. */
function faultOfPath(path: string): string | null {
  const segments = path.split("/");
  if (path.startsWith("/") || segments.includes("..")) return "leads out of the workspace";
  if (path.includes("\0") || path.includes("\\") || !path.isWellFormed()) return "has characters that no file of a workspace has";
  if (path.length > 1_024) return "is too long";
  if (segments.some((segment) => segment === "" || segment === ".")) return "names no file";
  if (segments.slice(0, -1).some((segment) => segment.startsWith("."))) return "lies in a hidden folder";
  return null;
}

/** File systems differ in which names are one: whatever may be the same file somewhere is named once. */
function faultOfNames(paths: readonly string[]): string | null {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const folded = path.normalize("NFC").toLowerCase();
    const earlier = seen.get(folded);
    if (earlier !== undefined) return `the plan names a file twice: ${JSON.stringify(earlier)} and ${JSON.stringify(path)}`;
    seen.set(folded, path);
  }
  for (const [folded, path] of seen) {
    for (let at = folded.indexOf("/"); at >= 0; at = folded.indexOf("/", at + 1))
      if (seen.has(folded.slice(0, at)))
        return `the plan uses the file ${JSON.stringify(folded.slice(0, at))} as the folder of ${JSON.stringify(path)}`;
  }
  return null;
}

import {
  applyEdits,
  bytesOfEdit,
  differsOnlyBy,
  type Edit,
  EditRefusedError,
  type FieldEdit,
  parseScript,
  type ScriptFile,
} from "../../clausewitz/index.ts";
import { placementOf } from "../../focus/placement.ts";
import { readFocusFile, type FocusFile } from "../../focus/read-focus-file.ts";
import type { Blocker } from "../blocker.ts";
import type { FocusRewriteOutput } from "./contract.ts";
import { focusesOf } from "./find-focuses.ts";
import type { FocusRewriteInput } from "./manifest.ts";

/** The file as it shall be. */
export interface Proposal {
  readonly bytes: Uint8Array;
  readonly byteEdits: readonly Edit[];
  readonly file: FocusFile;
  readonly checks: Checks;
}

export type Checks = FocusRewriteOutput["validation"]["checks"];

/** How scripts are read for a rewrite: with as many findings as one can want, because one that is not listed could forbid an edit. */
export function parseForRewrite(bytes: Uint8Array): ScriptFile {
  return parseScript(bytes, { maxFindings: 1_000 });
}

/** Puts the new text together and reads it again as if somebody else had written it. */
export function propose(
  before: FocusFile,
  { edits, treeId, changes }: { edits: readonly FieldEdit[] } & Pick<FocusRewriteInput, "treeId" | "changes">,
): Proposal | Blocker {
  const byteEdits: Edit[] = [];
  for (const edit of edits) {
    const bytes = bytesOfEdit(before.script, edit);
    if (bytes === null) return NOT_ENCODABLE;
    byteEdits.push(bytes);
  }
  const bytes = tryEdits(before.script, byteEdits);
  if (!(bytes instanceof Uint8Array)) return bytes;
  const file = readFocusFile(parseForRewrite(bytes));
  return { bytes, byteEdits, file, checks: checkRewrite({ before, after: file, edits, treeId, changes }) };
}

function tryEdits(script: ScriptFile, edits: readonly Edit[]): Uint8Array | Blocker {
  try {
    return applyEdits(script, edits);
  } catch (error) {
    if (error instanceof EditRefusedError) return { code: "FOCUS_EDIT_REFUSED", message: error.message };
    throw error;
  }
}

const NOT_ENCODABLE: Blocker = {
  code: "FOCUS_TEXT_NOT_ENCODABLE",
  message: "The file is in Windows-1252, which has no place for a character of the new relative_position_id.",
};

/** What must hold before a byte is written. Each check looks at the new file itself, not at how it came to be. */
export function checkRewrite({
  before,
  after,
  edits,
  treeId,
  changes,
}: {
  before: FocusFile;
  after: FocusFile;
  edits: readonly FieldEdit[];
} & Pick<FocusRewriteInput, "treeId" | "changes">): Checks {
  const isSame = differsOnlyBy(before.script, after.script, edits);
  const astray = changesAstray(after, { treeId, changes });
  const [had, has] = [countFindings(before.script), countFindings(after.script)];
  return [
    {
      id: "structure_kept",
      passed: isSame,
      message: isSame
        ? "Read again, the file differs in the changed fields only."
        : "Read again, the file differs in more than the changed fields.",
    },
    {
      id: "placements_as_asked",
      passed: astray.length === 0,
      message:
        astray.length === 0 ? "Read again, every focus says what was asked." : `Read again, ${astray.length} focuses say something else.`,
    },
    {
      id: "syntax_not_worse",
      passed: has <= had,
      message:
        has <= had ? "The file has no more syntax findings than before." : `The file has ${has - had} more syntax findings than before.`,
    },
  ];
}

function changesAstray(file: FocusFile, { treeId, changes }: Pick<FocusRewriteInput, "treeId" | "changes">): string[] {
  const byId = Map.groupBy(focusesOf(file, treeId), ({ id }) => id);
  return changes
    .filter(({ focusId, x, y, relativePositionId }) => {
      const [focus, ...twins] = byId.get(focusId) ?? [];
      if (focus === undefined || twins.length > 0) return true;
      const now = placementOf(focus, file.constants);
      return (
        (x !== undefined && now.x !== x) ||
        (y !== undefined && now.y !== y) ||
        (relativePositionId !== undefined && now.relativePositionId !== relativePositionId)
      );
    })
    .map(({ focusId }) => focusId);
}

function countFindings({ findings, findingsOmitted }: ScriptFile): number {
  return findings.length + findingsOmitted;
}

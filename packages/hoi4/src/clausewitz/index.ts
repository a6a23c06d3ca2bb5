export { type EditRefusal, EditRefusedError, applyEdits, renderTokens } from "./edits.ts";
export { encodeText } from "./encoding.ts";
export { type FieldEdit, bytesOfEdit, hasCommentInside } from "./field-edit.ts";
export { type LocalisationEntry, type LocalisationFile, readLocalisation } from "./localisation.ts";
export { type NestedScript, parseNested } from "./nested.ts";
export { parseScript } from "./parse-script.ts";
export { positionAt } from "./positions.ts";
export {
  type Bare,
  type Block,
  type Edit,
  type Encoding,
  type Entry,
  type Finding,
  type Newline,
  type Operator,
  type Pair,
  type ParseLimits,
  type Position,
  type Range,
  type Scalar,
  type ScriptFile,
  type Severity,
  type TaggedBlock,
  type Tokens,
  type Value,
  tokenKind,
} from "./syntax.ts";
export { differsOnlyBy } from "./same-structure.ts";
export { unifiedDiff } from "./unified-diff.ts";
export { blockOf, pairs, textOf, valueOf } from "./walk.ts";

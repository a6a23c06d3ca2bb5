import { type Block, blockOf, parseScript, type Range, type ScriptFile } from "../clausewitz/index.ts";
import { openReport, type FileReport } from "../mod/diagnostic.ts";
import { locate, type SourceLocation } from "../mod/source-location.ts";
import type { SwallowedEvent } from "./event-facts.ts";
import { parseNumber, type Constants } from "./read-timing.ts";

/** The file being read and where its readers put what they notice. */
export interface ScriptContext {
  readonly file: ScriptFile;
  readonly constants: Constants;
  readonly helpers: HelperNames;
  readonly report: FileReport;
  /** By offset, because a definition can be met on more than one way. */
  readonly swallowed: Map<number, SwallowedEvent>;
  at(range: Range, symbol?: string): SourceLocation;
}

/**
 * The scripted effects that the mod defines: lower case to the spelling of a definition. Only these are helpers. The game
 * has hundreds of effects of its own that look alike (`add_named_threat = yes`), and a scan does not know them.
 */
export type HelperNames = Pick<ReadonlyMap<string, string>, "get">;

/** A script as a scan reads it. What stands behind more words than this would cost more memory in nodes than a worker's child has. */
export function parseSource(bytes: Uint8Array): ScriptFile {
  return parseScript(bytes, { maxTokens: 4_000_000 });
}

export function openScript({ path, file, helpers }: { path: string; file: ScriptFile; helpers: HelperNames }): ScriptContext {
  return {
    file,
    helpers,
    constants: readConstants(file),
    report: openReport(path),
    swallowed: new Map(),
    at: (range, symbol) => locate(path, file, range, symbol),
  };
}

/** Constants may be defined at any depth and hold for the whole file; a later definition of the same one wins. */
function readConstants({ root, bytes }: ScriptFile): Constants {
  const constants = new Map<string, number>();
  if (bytes.includes(AT_SIGN)) collectConstants(root, constants);
  return constants;
}

const AT_SIGN = 0x40;

function collectConstants(block: Block, constants: Map<string, number>): void {
  for (const entry of block.entries) {
    const inner = blockOf(entry.value);
    if (inner !== null) collectConstants(inner, constants);
    if (entry.kind !== "pair" || entry.value?.kind !== "scalar") continue;
    const name = entry.key.text;
    const number = name.startsWith("@") ? parseNumber(entry.value.text, constants) : null;
    if (number !== null) constants.set(name, number);
  }
}

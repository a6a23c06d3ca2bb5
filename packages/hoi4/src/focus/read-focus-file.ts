import { type Block, blockOf, type Pair, pairs, type Range, type ScriptFile, textOf, valueOf } from "../clausewitz/index.ts";

/** What a file below `common/national_focus` defines, as far as it stands where the game looks for it. */
export interface FocusFile {
  readonly script: ScriptFile;
  readonly trees: readonly FocusTree[];
  /** `shared_focus` and `joint_focus` blocks at the root of the file: trees pull them in, and the focuses of any tree may stand relative to them. */
  readonly shared: readonly Focus[];
  /** Values of the file's `@names`, as written. */
  readonly constants: ReadonlyMap<string, string>;
}

/** The range is that of the whole `focus_tree = { … }`. */
export interface FocusTree extends Range {
  /** Null when it was forgotten. */
  readonly id: string | null;
  readonly block: Block;
  readonly focuses: readonly Focus[];
}

/** The range is that of the whole definition. A block without an id is no focus. */
export interface Focus extends Range {
  readonly id: string;
  readonly idPair: Pair;
  readonly block: Block;
}

export function readFocusFile(script: ScriptFile): FocusFile {
  const trees = [...pairs(script.root, "focus_tree")].flatMap(readTree);
  const shared = SHARED_KEYWORDS.flatMap((keyword) => readFocuses(script.root, keyword)).toSorted((a, b) => a.start - b.start);
  return { script, trees, shared, constants: readConstants([script.root, ...trees.map(({ block }) => block)]) };
}

const SHARED_KEYWORDS = ["shared_focus", "joint_focus"] as const;

function readTree({ value, start, end }: Pair): FocusTree[] {
  const block = blockOf(value);
  return block === null ? [] : [{ id: textOf(valueOf(block, "id")), block, focuses: readFocuses(block, "focus"), start, end }];
}

function readFocuses(parent: Block, keyword: string): Focus[] {
  return [...pairs(parent, keyword)].flatMap(({ value, start, end }) => {
    const block = blockOf(value);
    if (block === null) return [];
    const [idPair] = pairs(block, "id");
    const id = textOf(idPair?.value ?? null);
    return idPair === undefined || id === null ? [] : [{ id, idPair, block, start, end }];
  });
}

/** The last definition of a name counts for the whole file. */
function readConstants(blocks: readonly Block[]): ReadonlyMap<string, string> {
  const constants = new Map<string, string>();
  for (const { entries } of blocks) {
    for (const entry of entries) {
      if (entry.kind !== "pair" || entry.value?.kind !== "scalar") continue;
      const name = entry.key.text;
      if (name.startsWith("@")) constants.set(name, entry.value.text);
    }
  }
  return constants;
}

/** A parsed script: the original bytes, tokens that tile them without gap, and a tree whose nodes point into them. All offsets are byte offsets. */
export interface ScriptFile {
  readonly bytes: Uint8Array;
  /** `windows-1252` is the fallback for everything that is not strict UTF-8. */
  readonly encoding: Encoding;
  readonly newline: Newline;
  readonly tokens: Tokens;
  /** The whole file as a block without braces. */
  readonly root: Block;
  /** In source order, never more than the limit; errors displace warnings, warnings displace infos. */
  readonly findings: readonly Finding[];
  /** How many findings were met beyond those listed. */
  readonly findingsOmitted: number;
  /** False when a limit or an unreadable encoding kept a part of the file from being read, even when that finding was omitted. */
  readonly isWhole: boolean;
  /** Ranges whose structure is a guess, in source order and complete even when findings were omitted; edits keep away from them. */
  readonly blocked: readonly Range[];
}

export type Encoding = "utf-8" | "utf-8-bom" | "windows-1252";

export type Newline = "lf" | "crlf" | "cr" | "mixed" | "none";

/** Half-open: `end` is the offset after the last byte. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Token `i` has kind `kinds[i]` and covers `starts[i]` to `ends[i]`, which is also where token `i + 1` starts; trivia are tokens too. */
export interface Tokens {
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Kinds up to and including `lastTrivia` carry no structure. */
export const tokenKind = {
  bom: 0,
  whitespace: 1,
  comment: 2,
  separator: 3,
  control: 4,
  opaque: 5,
  lastTrivia: 5,
  open: 6,
  close: 7,
  operator: 8,
  string: 9,
  atom: 10,
} as const;

export type Entry = Pair | Bare;

export type Value = Scalar | Block | TaggedBlock;

export interface Pair {
  readonly kind: "pair";
  readonly key: Scalar;
  readonly operator: Operator;
  /** True when the script leaves the operator out (`else { … }`) and `=` is understood. */
  readonly implicit: boolean;
  /** Null when the value was forgotten (`x = }`). */
  readonly value: Value | null;
  readonly start: number;
  readonly end: number;
}

/** A value without a key: a list item or an anonymous block. */
export interface Bare {
  readonly kind: "value";
  readonly value: Value;
}

/** `unknown` stands for any other run of operator characters, such as `=>`. */
export type Operator = "=" | "<" | ">" | "<=" | ">=" | "!=" | "==" | "?=" | "unknown";

export interface Scalar {
  readonly kind: "scalar";
  /** Of the token, so quotes are inside the range. */
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  /** Decoded on each access, without quotes and with `\"` and `\\` resolved. */
  readonly text: string;
  /** Whether this is the given lower-case ASCII keyword in any letter case; decodes nothing. */
  is(keyword: string): boolean;
}

export interface Block {
  readonly kind: "block";
  /** In source order; repeated keys are kept because they mean something. */
  readonly entries: readonly Entry[];
  /** From the opening brace to after the closing one, or to the end of the file when it is missing. */
  readonly start: number;
  readonly end: number;
  readonly closed: boolean;
}

/** A block behind a header word in value position: `color = rgb { 10 20 30 }`. */
export interface TaggedBlock {
  readonly kind: "tagged-block";
  readonly tag: Scalar;
  readonly block: Block;
  readonly start: number;
  readonly end: number;
}

export type Severity = "info" | "warning" | "error";

export interface Finding extends Range {
  /** UPPER_SNAKE and stable. */
  readonly code: string;
  readonly severity: Severity;
  /** A sentence for the author of the script. */
  readonly message: string;
}

/** Line and column count from 1; a column is one character (code point), and a byte order mark has no column. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** Each limit ends in a located finding, never in an exception. */
export interface ParseLimits {
  /** Larger files are kept as one opaque token; default 16 MiB. */
  readonly maxBytes?: number;
  /** Trivia included; the rest of the file becomes one opaque token; default 8 million. */
  readonly maxTokens?: number;
  /** Blocks nested deeper keep their range but no entries; default 256. */
  readonly maxDepth?: number;
  /** Findings listed per file; default 200. */
  readonly maxFindings?: number;
}

/** Replaces the bytes of a range; an empty range inserts. */
export interface Edit extends Range {
  readonly bytes: Uint8Array;
}

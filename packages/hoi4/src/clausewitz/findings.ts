import type { Finding, Range, Severity } from "./syntax.ts";

/** Gathers findings while a file is read, so that a file with many slips still reports its worst ones and says how many it left out. */
export interface FindingCollector {
  /** `detail` goes into the message where the code's sentence has a place for it. */
  report(code: FindingCode, range: Range, detail?: string): void;
  /** Marks a range as a guess although no finding lies exactly there. */
  block(range: Range): void;
  finish(): Findings;
}

export interface Findings {
  readonly findings: Finding[];
  readonly findingsOmitted: number;
  readonly blocked: Range[];
  /** Whether nothing kept a part of the file from being read. */
  readonly isWhole: boolean;
}

interface Kind {
  readonly severity: Severity;
  /** The structure around the finding is a guess, so edits keep away. */
  readonly blocking: boolean;
  /** A part of the file was not read. */
  readonly isGap: boolean;
  readonly message: (detail: string) => string;
}

export const findingKinds = {
  FILE_TOO_LARGE: unread((limit) => `The file is larger than ${limit} bytes and was not read.`),
  TOO_MANY_ENTRIES: unread((limit) => `The file has more than ${limit} entries; what follows was not read.`),
  TOO_MANY_TOKENS: unread((limit) => `The file has more than ${limit} words and signs; what follows was not read.`),
  DEPTH_LIMIT: unread((limit) => `Blocks are nested more than ${limit} deep here; what is inside was not read.`),
  UTF16_TEXT: unread(() => "The file is saved as UTF-16, which the game cannot read; save it as UTF-8."),
  NOT_UTF8: info(() => "This byte is not UTF-8; the whole file is read as Windows-1252."),
  BOM_WITHOUT_UTF8: warning(() => "The file starts with the UTF-8 mark, but later bytes are not UTF-8; it is read as Windows-1252."),
  MISPLACED_BOM: warning(() => "A byte order mark belongs only at the start of a file; an editor or a merge has left this one here."),
  ODD_WHITESPACE: warning(() => "This is a no-break or ideographic space; the game may take it as part of a word. Use an ordinary space."),
  CONTROL_CHARACTER: warning(() => "There are invisible control characters here; they are ignored."),
  STRAY_SEPARATOR: info(() => "Commas and semicolons do not separate anything in script; this one is ignored."),
  SEMICOLON_IN_WORD: warning((word) => `The semicolon is part of the word '${word}'; remove it or put a space before it.`),
  UNKNOWN_ESCAPE: info(() => 'Only \\" and \\\\ are escapes in script; this backslash is kept as written.'),
  UNTERMINATED_STRING: fatal(() => "This quote is never closed, so the rest of the file is text."),
  PROBABLE_MISSING_QUOTE: guess(
    (line) => `The text runs into the next line, which looks like script: '${line}'. A quote is probably missing here.`,
  ),
  MATH_NOT_EVALUATED: warning(() => "The game does not calculate '@[ ]' in script; the expression is kept as one word."),
  UNSUPPORTED_OPERATOR: warning((operator) => `The operator '${operator}' does not exist in Hearts of Iron IV; only '=', '<' and '>' do.`),
  UNKNOWN_OPERATOR: guess((operator) => `'${operator}' is not an operator.`),
  REPEATED_OPERATOR: warning(() => "The operator is written twice; the second one is ignored."),
  OPERATOR_WITHOUT_KEY: guess((operator) => `Nothing stands to the left of '${operator}', so it is ignored.`),
  MISSING_OPERATOR: warning((key) => `'=' is missing between '${key}' and its block; the game reads it as if it were there.`),
  MISSING_VALUE: error((key) => `'${key}' has no value.`),
  UNATTACHED_BLOCK: guess((value) => `A block follows the finished value '${value}'; a key or an '=' is probably missing.`),
  EXTRA_CLOSE_BRACE: fatal(() => "This '}' closes nothing. The game ignores it, but a block above may have been closed too early."),
  MISSING_CLOSE_BRACE: fatal(() => "This '{' is never closed; the game closes it at the end of the file."),
  PROBABLE_MISSING_BRACE: guess((key) => `A '}' is probably missing before '${key}', because the block around it is never closed.`),
  MISSING_BOM: error(() => "A localisation file must be UTF-8 with a byte order mark; the game does not read this one."),
  MISSING_LANGUAGE: error(() => "No language is named before this line; a header such as 'l_english:' is missing."),
  MALFORMED_LINE: error(() => 'This is neither a header, a comment nor an entry of the form key:0 "text".'),
  INVALID_KEY: warning((key) => `The key '${key}' has characters other than letters, digits and _ . - '.`),
  MISSING_QUOTE: error(() => "A quote is missing; the game stops reading the file here, so no later entry is loaded."),
  TEXT_AFTER_QUOTE: warning(() => "There is text after the closing quote; only a comment may stand there."),
  QUOTE_IN_COMMENT: warning(() => "The text ends at the last quote of the line, so the comment up to there is shown in the game."),
  DUPLICATE_KEY: warning((key) => `The key '${key}' occurs before in this file and language; which text the game shows is not defined.`),
} as const satisfies Record<string, Kind>;

export type FindingCode = keyof typeof findingKinds;

/** Beyond this many separate ranges the last one grows to cover the rest, which refuses too much rather than too little. */
const maxBlockedRanges = 1_000;

export function collectFindings({ maxFindings }: { maxFindings: number }): FindingCollector {
  const bySeverity: Record<Severity, Finding[]> = { error: [], warning: [], info: [] };
  const blocked: Range[] = [];
  let met = 0;
  let isWhole = true;
  return {
    report(code, { start, end }, detail = "") {
      const { severity, blocking, isGap, message } = findingKinds[code];
      met += 1;
      if (isGap) isWhole = false;
      const same = bySeverity[severity];
      if (same.length < maxFindings) same.push({ code, severity, message: message(detail), start, end });
      if (blocking) block(blocked, { start, end });
    },
    block(range) {
      block(blocked, range);
    },
    finish() {
      const findings = [...bySeverity.error, ...bySeverity.warning, ...bySeverity.info].slice(0, maxFindings);
      return {
        findings: findings.toSorted((a, b) => a.start - b.start || a.end - b.end),
        findingsOmitted: met - findings.length,
        blocked: blocked.toSorted((a, b) => a.start - b.start),
        isWhole,
      };
    },
  };
}

function block(blocked: Range[], range: Range): void {
  const last = blocked.at(-1);
  if (last === undefined || blocked.length < maxBlockedRanges) blocked.push(range);
  else blocked[blocked.length - 1] = { start: Math.min(last.start, range.start), end: Math.max(last.end, range.end) };
}

function info(message: Kind["message"]): Kind {
  return { severity: "info", blocking: false, isGap: false, message };
}

function warning(message: Kind["message"]): Kind {
  return { severity: "warning", blocking: false, isGap: false, message };
}

function error(message: Kind["message"]): Kind {
  return { severity: "error", blocking: false, isGap: false, message };
}

function guess(message: Kind["message"]): Kind {
  return { severity: "warning", blocking: true, isGap: false, message };
}

function fatal(message: Kind["message"]): Kind {
  return { severity: "error", blocking: true, isGap: false, message };
}

function unread(message: Kind["message"]): Kind {
  return { severity: "error", blocking: true, isGap: true, message };
}

/** Where a command speaks: results on `out`, everything about the way there on `note`. */
export interface Terminal {
  /** A line of the result, on stdout. */
  out(line: string): void;
  /** A line for the person who waits, on stderr. */
  note(line: string): void;
  /** Overwrites the current line of stdout; only where `isInteractive`. */
  redraw(text: string): void;
  /** Whether a person watches stdout on a screen. */
  readonly isInteractive: boolean;
  /** Columns of the screen, or a width that reads well where there is none. */
  readonly width: number;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  return {
    out: (line) => stdout.write(`${line}\n`),
    note: (line) => stderr.write(`${line}\n`),
    redraw: (text) => stdout.write(`\r\u001b[2K${text}`),
    isInteractive: stdout.isTTY && process.stdout.hasColors(),
    width: stdout.isTTY ? Math.max(40, stdout.columns) : 100,
  };
}

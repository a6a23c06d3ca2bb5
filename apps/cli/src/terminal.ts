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
  // Whoever read us may have had enough (`| head`): then we finish what we do, unheard.
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  return {
    out: (line) => stdout.write(`${line}\n`),
    note: (line) => stderr.write(`${line}\n`),
    redraw: (text) => stdout.write(`\r\u001b[2K${text}`),
    isInteractive: stdout.isTTY && stdout.hasColors(),
    width: stdout.isTTY ? Math.max(40, stdout.columns || 80) : 100,
  };
}

/** A file that is being written, and that knows on which line it is. */
export interface ScriptText {
  readonly path: string;
  /** Writes one line and answers its number, from 1. */
  line(text: string): number;
  /** Writes `text {` and answers its line; what follows stands deeper until `close`. */
  open(text: string): number;
  close(): void;
  /** Everything so far, with a line end at the end. */
  text(): string;
}

export function createScript(path: string): ScriptText {
  const lines: string[] = [];
  let depth = 0;
  const line = (text: string) => lines.push("\t".repeat(depth) + text);
  return {
    path,
    line,
    open: (text) => {
      const number = line(`${text} {`);
      depth += 1;
      return number;
    },
    close: () => {
      depth -= 1;
      line("}");
    },
    text: () => `${lines.join("\n")}\n`,
  };
}

import type { Terminal } from "../terminal.ts";

/** Tells a play in numbered steps. */
export interface Narrator {
  readonly terminal: Terminal;
  heading(title: string): void;
  /** One line of the present step; an empty one stays empty. */
  say(line: string): void;
}

/** Characters that move the cursor, ring the bell or turn the direction of writing: texts of a mod may hold any. */
const unprintable = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

export function createNarrator(terminal: Terminal): Narrator {
  let number = 0;
  return {
    terminal,
    heading: (title) => {
      number += 1;
      terminal.out("");
      terminal.out(`${number}. ${title.replaceAll(unprintable, " ")}`);
    },
    say: (line) => terminal.out(line === "" ? "" : `   ${line.replaceAll(unprintable, " ")}`),
  };
}

const gap = "  ";
const narrowest = 7;

/** Columns as wide as their cells need; when the screen is narrower, the widest give way first and their cells are cut. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], width: number): readonly string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? ""))));
  const room = width - gap.length * (header.length - 1);
  for (;;) {
    const sum = widths.reduce((total, each) => total + each, 0);
    const widest = widths.indexOf(Math.max(...widths));
    const present = widths[widest] ?? 0;
    if (sum <= room || present <= narrowest) break;
    widths[widest] = present - 1;
  }
  return all.map((row) =>
    row
      .map((cell, column) => fit(cell, widths[column] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

/** East Asian wide and full-width characters, and emoji: a terminal gives each of them two columns. */
const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += wide.test(character) ? 2 : 1;
  return width;
}

function fit(cell: string, width: number): string {
  if (displayWidth(cell) <= width) return cell + " ".repeat(width - displayWidth(cell));
  let kept = "";
  for (const character of cell) {
    if (displayWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…${" ".repeat(Math.max(0, width - 1 - displayWidth(kept)))}`;
}

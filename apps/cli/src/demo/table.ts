const gap = "  ";
const narrowest = 7;

/** Columns as wide as their cells need; when the screen is narrower, the widest give way first and their cells are cut. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], width: number): readonly string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
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

function fit(cell: string, width: number): string {
  return cell.length <= width ? cell.padEnd(width) : `${cell.slice(0, Math.max(0, width - 1))}…`;
}

/** What is true of a generated mod, noted while it is written and never read back from its text. */
export interface GroundTruth {
  readonly events: number;
  readonly options: number;
  readonly helpers: number;
  /** Node ids of places that fire events or run scripted effects, sorted. */
  readonly entries: readonly string[];
  /** Node ids of what nothing in the mod defines, sorted. */
  readonly unresolved: readonly string[];
  readonly terminals: number;
  /** `from -> to when [conditions]`, sorted; an event that loses to another one of its id ends in `#`. */
  readonly edges: readonly string[];
  /** Ids of events that fire each other in a circle, each list sorted, sorted by their first. */
  readonly cycles: readonly (readonly string[])[];
  /** Ids that are defined twice, sorted. */
  readonly duplicates: readonly string[];
  /** `CODE path:line` of everything that there is to find, sorted. */
  readonly findings: readonly string[];
}

/** Collects the truth about a mod. */
export interface TruthNotes {
  event(): void;
  /** An event that only calls can bring about. */
  waiting(event: { readonly node: string; readonly path: string; readonly line: number }): void;
  option(): void;
  helper(): void;
  entry(node: string): void;
  terminal(from: string): void;
  edge(edge: { readonly from: string; readonly to: string; readonly when: string; readonly conditions: number }): void;
  cycle(ids: readonly string[]): void;
  duplicate(id: string): void;
  finding(code: string, path: string, line: number): void;
  truth(): GroundTruth;
}

export function takeNotes(): TruthNotes {
  const counts = { events: 0, options: 0, helpers: 0, terminals: 0 };
  const entries = new Set<string>();
  const unresolved = new Set<string>();
  const edges: string[] = [];
  const called = new Set<string>();
  const cycles: string[][] = [];
  const duplicates: string[] = [];
  const findings: string[] = [];
  const waiting: { readonly node: string; readonly path: string; readonly line: number }[] = [];
  const edge: TruthNotes["edge"] = ({ from, to, when, conditions }) => {
    edges.push(`${from} -> ${to} ${when} [${conditions}]`);
    if (to.startsWith("unresolved:")) unresolved.add(to);
    if (ownerOf(from) !== to) called.add(to);
  };
  return {
    event: () => {
      counts.events += 1;
    },
    waiting: (event) => {
      waiting.push(event);
    },
    option: () => {
      counts.options += 1;
    },
    helper: () => {
      counts.helpers += 1;
    },
    entry: (node) => {
      entries.add(node);
    },
    terminal: (from) => {
      counts.terminals += 1;
      edge({ from, to: `terminal:${from}`, when: "at once", conditions: 0 });
    },
    edge,
    cycle: (ids) => {
      cycles.push(ids.toSorted());
    },
    duplicate: (id) => {
      duplicates.push(id);
    },
    finding: (code, path, line) => {
      findings.push(findingLine(code, path, line));
    },
    truth: () => ({
      ...counts,
      entries: [...entries].toSorted(),
      unresolved: [...unresolved].toSorted(),
      edges: edges.toSorted(),
      cycles: cycles.toSorted((a, b) => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1)),
      duplicates: duplicates.toSorted(),
      findings: [
        ...findings,
        ...waiting.filter(({ node }) => !called.has(node)).map(({ path, line }) => findingLine("EVENT_NEVER_FIRED", path, line)),
      ].toSorted(),
    }),
  };
}

function findingLine(code: string, path: string, line: number): string {
  return `${code} mod:${path}:${line}`;
}

/** The event that an option belongs to; any other node stands for itself. */
function ownerOf(node: string): string {
  return node.startsWith("option:") ? `event:${node.slice("option:".length, node.lastIndexOf("/"))}` : node;
}

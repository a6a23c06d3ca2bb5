/** Titles of tests by their file. */
export type TestsByFile = Readonly<Record<string, readonly string[]>>;

/** Tests that prove no clause, and why they are there. `all`: the file has no others. */
export type Beyond = Readonly<Record<string, { readonly reason: string; readonly tests: "all" | readonly string[] }>>;

export interface ClauseMap {
  /** Clauses as the document has them, in its order. */
  readonly documented: readonly string[];
  readonly clauses: Readonly<Record<string, TestsByFile>>;
  readonly beyond: Beyond;
  /** All tests that there are, those that stand beside their source too. */
  readonly existing: TestsByFile;
  /** Whether tests of a file have to be named: by a clause, or as beyond all of them. */
  readonly mustBeNamed: (file: string) => boolean;
}

/** What is wrong with the map, one line each. */
export function complaintsAbout({ documented, clauses, beyond, existing, mustBeNamed }: ClauseMap): readonly string[] {
  const proofs = Object.entries(clauses).flatMap(([clause, tests]) => flatten(tests).map((test) => ({ clause, ...test })));
  const excused = Object.entries(beyond).flatMap(([file, { tests }]) =>
    flatten({ [file]: tests === "all" ? (existing[file] ?? [NO_TEST]) : tests }),
  );
  const named = new Set(proofs.map(nameOf));
  const unproven = new Set(excused.map(nameOf));
  return [
    ...documented.filter((clause) => !(clause in clauses)).map((clause) => `${clause} is in the contract and not in the map`),
    ...Object.keys(clauses)
      .filter((clause) => !documented.includes(clause))
      .map((clause) => `${clause} is in the map and not in the contract`),
    ...Object.entries(clauses)
      .filter(([, tests]) => flatten(tests).length === 0)
      .map(([clause]) => `${clause} has no test`),
    ...[...proofs.map(({ clause, ...test }) => ({ by: clause, ...test })), ...excused.map((test) => ({ by: "beyondTheContract", ...test }))]
      .filter(({ file, title }) => !(existing[file] ?? []).includes(title))
      .map(({ by, file, title }) => `${by} names a test that does not exist: ${file}: ${title}`),
    ...excused.filter((test) => named.has(nameOf(test))).map((test) => `proves a clause and is beyond all of them: ${nameOf(test)}`),
    ...flatten(existing)
      .filter((test) => mustBeNamed(test.file) && !named.has(nameOf(test)) && !unproven.has(nameOf(test)))
      .map((test) => `names no clause: ${nameOf(test)}`),
  ];
}

/** Stands for the tests of a file that has none. */
const NO_TEST = "any";

interface Test {
  readonly file: string;
  readonly title: string;
}

function flatten(tests: TestsByFile): Test[] {
  return Object.entries(tests).flatMap(([file, titles]) => titles.map((title) => ({ file, title })));
}

function nameOf({ file, title }: Test): string {
  return `${file}: ${title}`;
}

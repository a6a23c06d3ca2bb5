import { z } from "zod";
import type { ArtifactSample } from "./client-messages.ts";
import { table } from "./table.ts";

export interface DescribedResult {
  readonly lines: readonly string[];
  /** The whole of it in half a sentence. */
  readonly gist: string;
  /** The operation itself says that it could not do what was asked. */
  readonly isError: boolean;
}

const place = { file: z.string(), line: z.number() };
const callSchema = z.object({ event: z.string(), from: z.string(), when: z.string(), resolution: z.string(), ...place });
const callerSchema = z.object({ kind: z.string(), id: z.string(), when: z.string(), ...place });
const eventSchema = z.object({
  id: z.string(),
  title: z.string().nullable(),
  titleKey: z.string().nullable(),
  options: z.array(z.unknown()),
  callers: z.array(callerSchema),
  calls: z.array(callSchema),
  ...place,
});
type EventRow = z.infer<typeof eventSchema>;

const diagnosticSchema = z.object({
  severity: z.string(),
  message: z.string(),
  location: z.object({ path: z.string(), start: z.object({ line: z.number() }) }).optional(),
});

/** Of the tool's result, what is shown here; anything else it holds is for programs. */
const resultSchema = z.object({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.object({
    diagnostics: z.array(diagnosticSchema),
    data: z
      .object({
        mod: z.object({ name: z.string().nullable() }),
        counts: z.object({
          events: z.number(),
          options: z.number(),
          entries: z.number(),
          edges: z.number(),
          unresolvedNodes: z.number(),
          diagnostics: z.number(),
          blockingDiagnostics: z.number(),
        }),
        complete: z.boolean(),
        hint: z.string().nullable(),
        events: z.array(eventSchema),
      })
      .nullable(),
  }),
});

/** Why a target is not among the events of the mod. */
const reasons: Readonly<Record<string, string>> = {
  missing: "nobody defines it",
  not_configured: "the game may define it",
  skipped: "a file that was left out may define it",
  dynamic: "its id is built while the game runs",
};

const shown = { events: 10, targets: 8, diagnostics: 8 } as const;

/** A scan in words and a table for a person: counts, the busiest events, dead ends, findings, the artifact. */
export function describeResult({
  result,
  artifact,
  width,
}: {
  result: unknown;
  artifact: ArtifactSample | null;
  width: number;
}): DescribedResult {
  const { isError = false, content, structuredContent } = resultSchema.parse(result);
  const { data, diagnostics } = structuredContent;
  if (data === null) {
    const text = content.find(({ type }) => type === "text")?.text ?? "It gave no reason.";
    return { lines: text.split("\n"), gist: text.split("\n")[0] ?? "", isError };
  }
  const { counts, events } = data;
  const name = data.mod.name ?? "The mod";
  const gist = `${quantity(counts.events, "event")}, ${quantity(counts.options, "option")}, ${quantity(counts.unresolvedNodes, "unresolved target")}`;
  const lines = [
    `${name}: ${quantity(counts.events, "event")} with ${quantity(counts.options, "option")}, fired from ${quantity(counts.entries, "place")} outside of events,`,
    `${quantity(counts.edges, "connection")}, ${quantity(counts.unresolvedNodes, "target")} that the mod does not define, ${quantity(counts.blockingDiagnostics, "error")}.`,
    ...(data.hint === null ? [] : [data.hint]),
    ...(data.complete ? [] : ["Some files could not be read; the artifact lists them."]),
    ...eventTable(events, width - 3),
    ...unresolvedTargets(events),
    ...findings(diagnostics),
    ...artifactLines(artifact),
  ];
  return { lines, gist, isError };
}

function eventTable(events: readonly EventRow[], width: number): readonly string[] {
  const busy = events.toSorted((a, b) => connections(b) - connections(a)).slice(0, shown.events);
  if (busy.length === 0) return [];
  const rows = events
    .filter((event) => busy.includes(event))
    .map(({ id, title, titleKey, options, callers, calls }) => [
      id,
      title ?? titleKey ?? "",
      String(options.length),
      summary(callers.map(({ kind, id: caller }) => (kind === "game" ? "the game itself" : `${kind} ${caller}`))),
      summary(calls.map(({ event, when }) => (when === "at once" || when === "immediately" ? event : `${event} (${when})`))),
    ]);
  const left = events.length - busy.length;
  return [
    "",
    ...table(["EVENT", "TITLE", "OPTIONS", "FIRED BY", "FIRES"], rows, width),
    ...(left > 0 ? [`... and ${left} more with fewer connections.`] : []),
  ];
}

function connections({ options, callers, calls }: EventRow): number {
  return options.length + callers.length + calls.length;
}

function unresolvedTargets(events: readonly EventRow[]): readonly string[] {
  const open = events.flatMap(({ id, calls }) =>
    calls.filter(({ resolution }) => resolution !== "resolved").map((call) => ({ id, ...call })),
  );
  if (open.length === 0) return [];
  return [
    "",
    "Fired, but not defined in this mod:",
    ...open.slice(0, shown.targets).map(({ id, event, from, resolution, file, line }) => {
      return `  ${event}  by ${id} (${from}), ${file}:${line}: ${reasons[resolution] ?? resolution}`;
    }),
    ...more(open.length - shown.targets),
  ];
}

function findings(diagnostics: readonly z.infer<typeof diagnosticSchema>[]): readonly string[] {
  if (diagnostics.length === 0) return [];
  return [
    "",
    "Findings, worst first:",
    ...diagnostics.slice(0, shown.diagnostics).map(({ severity, message, location }) => {
      return `  ${severity.padEnd(7)}  ${location === undefined ? "" : `${location.path}:${location.start.line}  `}${message}`;
    }),
    ...more(diagnostics.length - shown.diagnostics),
  ];
}

function artifactLines(artifact: ArtifactSample | null): readonly string[] {
  if (artifact === null) return [];
  const { name, size, uri, beginning } = artifact;
  return [
    "",
    `The whole graph is the artifact ${name}, ${size.toLocaleString("en")} bytes, which any client with a grant can read:`,
    `  ${uri}`,
    `Its first bytes, as resources/read gave them: ${beginning.replaceAll(/\s+/gu, " ")}...`,
  ];
}

function more(count: number): readonly string[] {
  return count > 0 ? [`  ... and ${count} more.`] : [];
}

/** The first two, and how many others there are. */
function summary(items: readonly string[]): string {
  const [first, second] = items;
  const others = items.length - 2;
  return [first, second].filter((item) => item !== undefined).join(", ") + (others > 0 ? ` +${others}` : "");
}

function quantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

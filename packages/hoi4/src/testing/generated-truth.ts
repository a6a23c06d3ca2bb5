import { describeTiming } from "../graph/describe-call.ts";
import { componentsOf } from "../graph/strong-components.ts";
import type { EventGraph } from "../graph/event-graph.ts";
import type { Diagnostic } from "../mod/diagnostic.ts";
import type { GroundTruth } from "./generate/ground-truth.ts";

/** What a scan found, in the words of a ground truth, so that the two can be compared. */
export function truthOf({ graph, diagnostics }: { readonly graph: EventGraph; readonly diagnostics: readonly Diagnostic[] }): GroundTruth {
  const idsOf = (kind: EventGraph["nodes"][number]["kind"]) =>
    graph.nodes.filter((node) => node.kind === kind).map(({ id }) => withoutHash(id));
  const events = graph.nodes.filter((node) => node.kind === "event");
  return {
    events: events.length,
    options: idsOf("option").length,
    helpers: idsOf("helper").length,
    entries: idsOf("entry").toSorted(),
    unresolved: idsOf("unresolved").toSorted(),
    terminals: idsOf("terminal").length,
    edges: graph.edges
      .map(
        ({ from, to, timing, conditions }) => `${withoutHash(from)} -> ${withoutHash(to)} ${describeTiming(timing)} [${conditions.length}]`,
      )
      .toSorted(),
    cycles: circlesOf(graph),
    duplicates: events.flatMap(({ isActive, eventId }) => (isActive ? [] : [eventId])).toSorted(),
    findings: diagnostics
      .map(({ code, location }) => (location === undefined ? code : `${code} ${location.path}:${location.start.line}`))
      .toSorted(),
  };
}

function withoutHash(id: string): string {
  return id.replaceAll(/#[0-9a-f]+/gu, "#");
}

function circlesOf({ nodes, edges }: EventGraph): string[][] {
  const ids = nodes.map(({ id }) => id);
  const callees = Map.groupBy(edges, ({ from }) => from);
  const components = componentsOf(ids, (id) => (callees.get(id) ?? []).map(({ to }) => to));
  return components
    .map((members) =>
      members
        .filter((id) => id.startsWith("event:"))
        .map((id) => id.slice("event:".length))
        .toSorted(),
    )
    .filter(({ length }) => length > 1)
    .toSorted((a, b) => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1));
}

import { describeTiming } from "../graph/describe-call.ts";
import type { GraphEdge } from "../graph/event-graph.ts";
import { GRAPH_LIMIT, type GraphSize } from "../graph/graph-size.ts";
import { createFactsCache } from "../graph/kept-facts.ts";
import { createTextsCache } from "../mod/localised-texts.ts";
import { scanEvents, type EventScan, type ScanOptions } from "../operations/event-inspect/scan-events.ts";
import { memoryWorkspace, type MemoryWorkspaceOptions } from "./memory-workspace.ts";
import { recordingContext } from "./recording-context.ts";

/** Scans a mod that is written into a test. */
export async function scanTexts(
  files: Readonly<Record<string, string | Uint8Array>>,
  {
    workspace,
    graphLimit,
    ...options
  }: { workspace?: MemoryWorkspaceOptions; graphLimit?: Partial<GraphSize> } & Omit<ScanOptions, "graphLimit"> = {},
): Promise<EventScan> {
  const scan = await scanEvents(recordingContext(memoryWorkspace(files, workspace)), {
    caches: { facts: createFactsCache(), texts: createTextsCache() },
    ...options,
    graphLimit: { ...GRAPH_LIMIT, ...graphLimit },
  });
  if ("code" in scan) throw new Error(`the scan was refused: ${scan.message}`);
  return scan;
}

/** The edges that fire or run something, one line each, without those to options and terminals: `event:a.1 -> event:a.2 at once`. */
export function callLines({ graph }: EventScan): string[] {
  return graph.edges.filter(({ reason }) => reason !== "option_branch" && reason !== "terminal").map(callLine);
}

function callLine({ from, to, timing }: GraphEdge): string {
  return `${from} -> ${to} ${describeTiming(timing)}`;
}

/** The one edge to a node. */
export function edgeTo({ graph }: EventScan, nodeId: string): GraphEdge {
  const [edge, ...others] = graph.edges.filter(({ to }) => to === nodeId);
  if (edge === undefined || others.length > 0) throw new Error(`${others.length + (edge === undefined ? 0 : 1)} edges lead to ${nodeId}`);
  return edge;
}

/** `CODE path:line`, in the order of the result. */
export function diagnosticLines({ diagnostics }: Pick<EventScan, "diagnostics">): string[] {
  return diagnostics.map(({ code, location }) => (location === undefined ? code : `${code} ${location.path}:${location.start.line}`));
}

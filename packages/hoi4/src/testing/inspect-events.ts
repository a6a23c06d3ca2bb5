import { toolResultSchema, type ToolResult, type WorkspaceView } from "@holdfast/core";
import { z } from "zod";
import { eventInspectOutput, type EventInspectOutput } from "../operations/event-inspect/contract.ts";
import { inspectEvents as handle } from "../operations/event-inspect/handler.ts";
import { eventInspect } from "../operations/event-inspect/manifest.ts";
import { recordingContext, type RecordingContext } from "./recording-context.ts";

/** The graph as a reader of the artifact finds it. */
export type ArtifactGraph = z.infer<typeof graphSchema>;

const graphSchema = z.looseObject({
  nodes: z.array(z.looseObject({ id: z.string(), kind: z.string() })),
  edges: z.array(
    z.looseObject({
      id: z.string(),
      from: z.string(),
      to: z.string(),
      conditions: z.array(z.looseObject({ kind: z.string(), expression: z.string() })),
    }),
  ),
});

export interface Inspected {
  readonly result: ToolResult;
  /** What the manifest's own schema makes of the structured content. */
  readonly output: EventInspectOutput;
  readonly text: string;
  readonly context: RecordingContext;
  /** Empty when nothing was stored. */
  readonly artifact: Uint8Array;
  /** Throws when nothing was stored. */
  graph(): ArtifactGraph;
}

/** Calls `hoi4.event_inspect`, without arguments unless some are given, as a worker would; a result that breaks its own schemas throws. */
export async function inspectEvents(workspace: WorkspaceView, call: z.input<typeof eventInspect.input> = {}): Promise<Inspected> {
  const context = recordingContext(workspace);
  const result = toolResultSchema.parse(await handle(eventInspect.input.parse(call), context));
  const [block] = result.content;
  const artifact = context.artifacts[0]?.bytes ?? new Uint8Array();
  return {
    result,
    output: eventInspectOutput.parse(result.structuredContent),
    text: block?.type === "text" ? block.text : "",
    context,
    artifact,
    graph: () => graphSchema.parse(JSON.parse(Buffer.from(artifact).toString())),
  };
}

import { z } from "zod";
import { defineOperation, workspaceIdSchema } from "@holdfast/core";
import { eventInspectOutput } from "./contract.ts";

const input = z.strictObject({
  workspaceId: workspaceIdSchema
    .default("current")
    .describe("Which workspace to read: the folder of one mod, or a folder whose holdfast.json says which folder in it is the mod."),
  mode: z.enum(["scan"]).default("scan").describe("scan: the whole event graph of the mod."),
  refresh: z
    .boolean()
    .default(false)
    .describe(
      "Whether to analyse every file anew. Bytes are read and hashed on every call in any case; without this, what the same bytes have given before is used again. An identical call is answered with its earlier result in any case, until a file changes.",
    ),
  proposedSources: z
    .array(
      z.strictObject({
        relativePath: z.string().max(1_000).describe("Inside the mod, such as events/a.txt."),
        source: z.string().nullable().describe("The whole new text of the file, or null to remove it."),
        expectedSourceHash: z
          .string()
          .regex(/^[0-9a-f]{64}$/iu)
          .optional()
          .describe("SHA-256 of the file that the change was made from; another file there is an error."),
      }),
    )
    .default([])
    .describe("Looks at the mod as if these files were changed, and writes nothing. At most 64 files, 8 MiB each and 64 MiB together."),
});

export type EventInspectInput = z.infer<typeof input>;

export const eventInspect = defineOperation({
  name: "hoi4.event_inspect",
  version: 2,
  title: "Inspect Hearts of Iron IV events",
  description: `Reads the events of a Hearts of Iron IV mod and answers who fires which event, when and under what conditions.

Call it with no arguments to scan the mod of the current workspace. It reads events, on_actions, decisions, focuses, ideas, history, scripted effects and the other script that can fire events, and all localisation.
The result has counts, a row for each event (title, file and line, options, callers, what it fires and after what delay, targets that nobody defines) and located diagnostics, worst first: syntax slips, duplicate ids, missing targets and namespaces, events that nothing fires.
Long lists are cut in the result and say so; the linked artifact event-graph.json has the whole graph with conditions, weights and every location.
Where holdfast.json names folders of the game and of mods that this one depends on, they are read below it, as the game does. Without them an id that they could define is "not_configured", which is no error. Nothing is changed, and a broken file does not keep the others from being read.`,
  input,
  output: eventInspectOutput,
  effect: "read",
  tasks: "optional",
  scopes: ["hoi4:read"],
});

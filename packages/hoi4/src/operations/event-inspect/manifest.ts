import { z } from "zod";
import { defineOperation, workspaceIdSchema } from "@holdfast/core";
import { eventInspectOutput } from "./contract.ts";

const input = z.strictObject({
  workspaceId: workspaceIdSchema.default("current").describe("Which workspace to read: the folder of one mod."),
  mode: z.enum(["scan"]).default("scan").describe("scan: the whole event graph of the mod."),
  refresh: z
    .boolean()
    .default(true)
    .describe("Files are read anew on every call, so this changes nothing; it is accepted for callers that send it."),
});

export type EventInspectInput = z.infer<typeof input>;

export const eventInspect = defineOperation({
  name: "hoi4.event_inspect",
  version: 1,
  title: "Inspect Hearts of Iron IV events",
  description: `Reads the events of a Hearts of Iron IV mod and answers who fires which event, when and under what conditions.

Call it with no arguments to scan the mod of the current workspace. It reads events, on_actions, decisions, focuses, ideas, history, scripted effects and the other script that can fire events, and all localisation.
The result has counts, a row for each event (title, file and line, options, callers, what it fires and after what delay, targets that nobody defines) and located diagnostics, worst first: syntax slips, duplicate ids, missing targets and namespaces, events that nothing fires.
Long lists are cut in the result and say so; the linked artifact event-graph.json has the whole graph with conditions, weights and every location.
The files of the game and of mods that this one depends on are not available: an id that they could define is "not_configured", which is no error. Nothing is changed, and a broken file does not keep the others from being read.`,
  input,
  output: eventInspectOutput,
  effect: "read",
  tasks: "optional",
  scopes: ["hoi4:read"],
});

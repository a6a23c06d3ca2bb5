import { z } from "zod";
import { envelopeSchema } from "../contract.ts";

const countsSchema = z.object({
  events: z.number().describe("Definitions, duplicates included."),
  options: z.number(),
  entries: z
    .number()
    .describe("Places outside of events that fire events or run scripted effects of the mod, and events that the game tries by itself."),
  helpers: z.number().describe("Scripted effects that the mod defines."),
  unresolvedNodes: z.number(),
  terminals: z.number().describe("Events and options that fire nothing more."),
  edges: z.number(),
  derivedEdges: z.number().describe("Edges that skip scripted effects; 0 in a scan, which keeps them as nodes."),
  diagnostics: z.number(),
  diagnosticsElsewhere: z.number().describe("Findings in files of the game and of other mods, which are not listed."),
  blockingDiagnostics: z.number().describe("Errors and blockers among them."),
  skippedSources: z.number(),
  artifacts: z.number(),
});

const placeSchema = { file: z.string(), line: z.number() };

const callerSchema = z.object({
  kind: z
    .string()
    .describe("option, event, on_action, focus, decision, mission, game (tries the event by itself), or the kind of definition."),
  id: z.string(),
  event: z.string().nullable().describe("The event that it belongs to, for options and events."),
  phase: z.string().nullable().describe("Which block of it, such as completion_reward."),
  via: z.array(z.string()).describe("Scripted effects in between, first called first; the first eight of them."),
  when: z.string().describe("The delay in words."),
  chance: z.string().nullable().describe("How likely it is once the conditions hold; null when it is certain."),
  conditions: z.number().describe("How many conditions guard the call; the artifact has their text."),
  ...placeSchema,
});

const callSchema = z.object({
  event: z.string().describe("The id that is fired, or the expression that gives it."),
  from: z.string().describe("immediate, after, or the name of the option."),
  via: z.array(z.string()),
  when: z.string(),
  chance: z.string().nullable(),
  conditions: z.number(),
  resolution: z.enum(["resolved", "missing", "not_configured", "skipped", "dynamic"]),
  ...placeSchema,
});

const eventRowSchema = z.object({
  id: z.string(),
  type: z.string(),
  titleKey: z.string().nullable(),
  title: z.string().nullable().describe("The text of the title key, English where there is one."),
  ...placeSchema,
  flags: z.array(z.enum(["hidden", "triggered_only", "fire_only_once", "major", "duplicate"])),
  options: z.array(z.object({ name: z.string().nullable(), text: z.string().nullable(), isConditional: z.boolean() })),
  callers: z.array(callerSchema),
  calls: z.array(callSchema),
  unresolvedTargets: z.array(z.string()),
  omitted: z
    .object({ options: z.number(), callers: z.number(), calls: z.number() })
    .optional()
    .describe("How many list items this row leaves out; where there are more than a thousand callers or calls, at least so many."),
});

export type EventRow = z.infer<typeof eventRowSchema>;
export type EventRowCaller = z.infer<typeof callerSchema>;
export type EventRowCall = z.infer<typeof callSchema>;

const scanDataSchema = z.object({
  mode: z.literal("scan"),
  analysisMode: z.enum(["full", "focused"]).describe("focused: the mod is larger than one graph may be, and files were left out."),
  mod: z.object({
    name: z.string().nullable(),
    version: z.string().nullable(),
    supportedVersion: z.string().nullable(),
    replacesEvents: z.boolean(),
  }),
  layers: z
    .array(
      z.object({
        label: z.string().describe("What paths of its files begin with."),
        kind: z.enum(["game", "dlc", "dependency", "mod"]),
        folder: z.string().describe("Inside the workspace."),
        name: z.string().nullable(),
        files: z.number().describe("Files that the game reads and that matter for events."),
        shadowedFiles: z.number().describe("Files that a later layer has a file of the same path for."),
        replacedFiles: z.number().describe("Files that a replace_path of a later layer unloads."),
      }),
    )
    .describe("In load order; the mod is the last one."),
  precedence: z.object({
    sameRelativePath: z.literal("whole_file"),
    replacePath: z.literal("one_folder"),
    pathsCompared: z.literal("case_insensitive"),
  }),
  revision: z.string().describe("Names the state of the files: the same revision gives the same result."),
  graphHash: z.string().describe("Names what the graph says; unchanged when definitions only move to other lines."),
  counts: countsSchema,
  complete: z.boolean(),
  skippedSources: z
    .array(z.object({ path: z.string(), reasonCodes: z.array(z.string()), possibleSymbolKinds: z.array(z.string()) }))
    .describe("Files that the result does not cover; cut when there are many, while counts.skippedSources counts them all."),
  events: z
    .array(eventRowSchema)
    .describe(
      "Those of the mod first, by file and line. Cut when there are many; eventsOmitted then says how many are missing. The artifact has all.",
    ),
  eventsOmitted: z.number(),
  hint: z.string().nullable(),
});

export const eventInspectOutput = envelopeSchema(scanDataSchema);
export type EventInspectOutput = z.infer<typeof eventInspectOutput>;
export type ScanData = z.infer<typeof scanDataSchema>;

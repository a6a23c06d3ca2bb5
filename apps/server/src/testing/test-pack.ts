import {
  defineForegroundTool,
  defineOperation,
  definePack,
  toolResult,
  type AskRound,
  type InputRequests,
  type JsonObject,
} from "@holdfast/core";
import { z } from "zod";

const workspaceId = z.string().default("current");
const read = { version: 1, description: "For tests.", effect: "read" as const };
const write = { ...read, effect: "write" as const, scopes: ["test:read", "test:write"] };

/** A question for a text, as a form. */
export function askText(message: string): InputRequests[string] {
  return {
    method: "elicitation/create",
    params: { message, requestedSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
  };
}

/** The answer to such a question. */
export function sayText(text: string): JsonObject {
  return { action: "accept", content: { text } };
}

/** A name, and then a colour; an empty name is asked for again. */
function askNameAndColour({ answers }: AskRound): InputRequests | null {
  const name = z.object({ content: z.object({ text: z.string().min(1) }) }).safeParse(answers["name"]);
  if (!name.success) return { name: askText("Your name?") };
  return answers["colour"] === undefined ? { colour: askText("A colour?") } : null;
}

const operations = [
  defineOperation({
    ...read,
    name: "test.echo",
    title: "Echo",
    input: z.strictObject({
      workspaceId,
      text: z.string().default(""),
      limit: z.number().int().max(10).optional(),
      filter: z.strictObject({ name: z.string() }).optional(),
    }),
    output: z.object({ text: z.string() }),
  }),
  defineOperation({ ...read, name: "test.foreground", title: "Foreground", input: z.object({ workspaceId }), tasks: "forbidden" }),
  defineOperation({ ...read, name: "test.background", title: "Background", input: z.object({ workspaceId }), tasks: "required" }),
  defineOperation({ ...read, name: "test.guarded", title: "Guarded", input: z.object({ workspaceId }), scopes: ["test:read"] }),
  defineOperation({ ...write, name: "test.change", title: "Change", input: z.strictObject({ workspaceId, text: z.string().optional() }) }),
  defineOperation({ ...write, name: "test.rebuild", title: "Rebuild", input: z.strictObject({ workspaceId }), tasks: "required" }),
  defineOperation({ ...read, name: "test.fresh", title: "Fresh", input: z.object({ workspaceId }), contentAddressed: false }),
  defineOperation({
    ...read,
    name: "test.ask_first",
    title: "Ask first",
    input: z.strictObject({ workspaceId, topic: z.string().default("") }),
    askFirst: (_input, round) => askNameAndColour(round),
  }),
  defineOperation({
    ...read,
    name: "test.ask_midway",
    title: "Ask midway",
    input: z.strictObject({ workspaceId }),
    asks: ["elicitation/create", "roots/list"],
  }),
  defineOperation({
    ...read,
    name: "test.mirrored",
    title: "Mirrored",
    input: z.strictObject({
      workspaceId,
      region: z.string().nullable().optional().meta({ "x-mcp-header": "Region", type: "string" }),
      place: z.strictObject({ floor: z.number().int().meta({ "x-mcp-header": "Floor" }), dry: z.boolean().optional() }).optional(),
    }),
  }),
];

/** What the nodes of these tests serve. */
export const testPack = definePack({
  name: "test",
  operations,
  foregroundTools: [
    defineForegroundTool({
      name: "test.announce",
      title: "Announce",
      description: "For tests.",
      input: z.strictObject({ list: z.enum(["tools", "prompts", "resources"]) }),
      run: ({ list }, { announce }) => {
        announce(list);
        return toolResult({ text: "announced" });
      },
    }),
  ],
  prompts: [
    {
      name: "greeting",
      title: "Greeting",
      description: "Greets somebody.",
      arguments: [
        {
          name: "whom",
          description: "Whom to greet.",
          required: true,
          complete: (begun) => Array.from({ length: 120 }, (_, index) => `name-${index}`).filter((name) => name.startsWith(begun)),
        },
        {
          name: "tone",
          description: "In what tone.",
          required: false,
          complete: (begun, { whom }) => [`${begun} for ${whom ?? "nobody"}`],
        },
        { name: "closing", description: "How to end.", required: false },
      ],
      messages: ({ whom = "" }) => [{ role: "user", content: { type: "text", text: `Greet ${whom}.` } }],
    },
    {
      name: "asking",
      title: "Asking",
      description: "Asks first.",
      arguments: [],
      askFirst: (_given, round) => askNameAndColour(round),
      messages: (_given, answers) => [{ role: "assistant", content: { type: "text", text: JSON.stringify(answers) } }],
    },
  ],
  resources: [
    { uri: "test://text", name: "text", title: "Text", description: "A text.", mimeType: "text/plain", read: () => ({ text: "fixed" }) },
    {
      uri: "test://bytes",
      name: "bytes",
      title: "Bytes",
      description: "Two bytes.",
      mimeType: "application/octet-stream",
      read: () => ({ bytes: Uint8Array.of(0xff, 0x00) }),
    },
  ],
  resourceTemplates: [
    {
      uriTemplate: "test://square/{side}",
      name: "square",
      title: "Square",
      description: "The square of a number.",
      mimeType: "text/plain",
      read: ({ side }) => (Number.isInteger(Number(side)) ? { text: String(Number(side) ** 2) } : null),
      complete: { side: (begun) => [`${begun}0`] },
    },
  ],
});

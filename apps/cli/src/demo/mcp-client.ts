import { z } from "zod";

/** An MCP server as one principal sees it. There is no session: every request stands alone and may go to another node. */
export interface McpServer {
  readonly url: string;
  readonly token: string;
}

/** What a server answered instead of a result. */
export class McpError extends Error {
  override readonly name = "McpError";
}

const protocolVersion = "2026-07-28";
const tasksExtension = "io.modelcontextprotocol/tasks";
const requestMs = 30_000;

const snapshot = {
  taskId: z.string(),
  statusMessage: z.string().optional(),
  pollIntervalMs: z.number().positive().optional(),
};
/** A block of a result that links to an artifact. `size` is in bytes. */
export const linkSchema = z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string(), size: z.number().optional() });
const toolResultSchema = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

const taskSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("working"), ...snapshot }),
  z.object({ status: z.literal("input_required"), ...snapshot }),
  z.object({ status: z.literal("cancelled"), ...snapshot }),
  z.object({ status: z.literal("completed"), ...snapshot, result: toolResultSchema }),
  z.object({ status: z.literal("failed"), ...snapshot, error: z.object({ code: z.number(), message: z.string() }) }),
]);
export type Task = z.infer<typeof taskSchema>;

const handleSchema = z.object({ resultType: z.literal("task"), taskId: z.string() });

/** Starts a tool as a task and answers its handle, which works on every node. */
export async function callAsTask(server: McpServer, tool: string, input: Record<string, unknown>): Promise<string> {
  const { taskId } = handleSchema.parse(await request(server, "tools/call", tool, { name: tool, arguments: input }));
  return taskId;
}

export async function getTask(server: McpServer, taskId: string): Promise<Task> {
  return taskSchema.parse(await request(server, "tasks/get", taskId, { taskId }));
}

/** How far the task is, from 0 to 1, where the server's message ends in "3 of 10". */
export function fractionOf({ statusMessage = "" }: Task): number | null {
  const [, value, total] = /(\d+(?:\.\d+)?) of (\d+(?:\.\d+)?)\)?$/u.exec(statusMessage) ?? [];
  return value === undefined || total === undefined || Number(total) === 0 ? null : Number(value) / Number(total);
}

const resourceSchema = z.object({
  contents: z.tuple([z.looseObject({ uri: z.string(), text: z.string().optional(), blob: z.base64().optional() })]),
});

/** The bytes of a resource, or of the part of it that the address asks for. */
export async function readResource(server: McpServer, uri: string): Promise<Buffer> {
  const [{ text, blob }] = resourceSchema.parse(await request(server, "resources/read", uri, { uri })).contents;
  return text === undefined ? Buffer.from(blob ?? "", "base64") : Buffer.from(text, "utf8");
}

const answerSchema = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

/** `mirrored` is the part of the parameters that the transport wants to see in a header. */
async function request(server: McpServer, method: string, mirrored: string, params: Record<string, unknown>): Promise<unknown> {
  const response = await fetch(server.url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": protocolVersion,
      "mcp-method": method,
      "mcp-name": mirrored,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope } }),
    signal: AbortSignal.timeout(requestMs),
  });
  const body = await response.text();
  const answer = answerSchema.safeParse(parseAnswer(body, response.headers.get("content-type") ?? ""));
  if (!answer.success) throw new McpError(`${method}: HTTP ${response.status} without an answer: ${body.slice(0, 200)}`);
  const { error, result } = answer.data;
  if (error !== undefined) throw new McpError(`${method}: ${error.message} (${error.code})`);
  return result;
}

/** What a client says of itself with every request, where older revisions had a handshake. */
const envelope = {
  "io.modelcontextprotocol/protocolVersion": protocolVersion,
  "io.modelcontextprotocol/clientInfo": { name: "holdfast-demo", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { extensions: { [tasksExtension]: {} } },
};

/** The answer alone, or the last message of a stream that carried notifications before it. */
function parseAnswer(body: string, contentType: string): unknown {
  try {
    if (!contentType.startsWith("text/event-stream")) return JSON.parse(body);
    const messages = body.split(/\r?\n\r?\n/u).flatMap((event) => {
      const data = event.split(/\r?\n/u).filter((line) => line.startsWith("data:"));
      return data.length === 0 ? [] : [data.map((line) => line.slice(5).trimStart()).join("\n")];
    });
    return JSON.parse(messages.at(-1) ?? "");
  } catch {
    return undefined;
  }
}

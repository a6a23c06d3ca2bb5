import { z } from "zod";

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
export const PROTOCOL_VERSION = "2026-07-28";

export interface ModernRequest {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Null sends none. */
  readonly token?: string | null;
  readonly id?: unknown;
  /** Whether the request declares that it can take a task for an answer. */
  readonly tasks?: boolean;
  /** What else it declares that it can do. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Beside what every request has in `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A request of revision 2026-07-28 as a well-behaved client sends it, unless `headers` say otherwise. */
export function modernRequest(url: string, request: ModernRequest): Request {
  const { method, params = {}, id = 1, tasks = false, capabilities = {}, token = null, headers = {}, signal } = request;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientInfo": { name: "holdfast-tests", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { ...capabilities, ...(tasks ? { extensions: { [TASKS_EXTENSION]: {} } } : {}) },
    ...request.meta,
  };
  return new Request(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": PROTOCOL_VERSION,
      "Mcp-Method": method,
      ...nameHeader(method, params),
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } }),
    ...(signal === undefined ? {} : { signal }),
  });
}

const NAME_SOURCE: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** What does not fit into a header as it is travels in Base64. */
function nameHeader(method: string, params: Readonly<Record<string, unknown>>): Record<string, string> {
  const value = params[NAME_SOURCE[method] ?? ""];
  if (typeof value !== "string") return {};
  const isPlain = /^[\u0021-\u007E](?:[\u0020-\u007E]*[\u0021-\u007E])?$/u.test(value);
  return { "Mcp-Name": isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=` };
}

const errorSchema = z.object({ code: z.number(), message: z.string(), data: z.record(z.string(), z.unknown()).optional() });
const answerSchema = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.record(z.string(), z.unknown()).optional(),
  error: errorSchema.optional(),
});

/** A JSON-RPC answer with the HTTP response it came in. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly id: string | number | null;
  readonly result: Readonly<Record<string, unknown>> | undefined;
  readonly error: z.infer<typeof errorSchema> | undefined;
  /** The body as it came over the wire. */
  readonly text: string;
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const { id, result, error } = answerSchema.parse(JSON.parse(text));
  return { status: response.status, headers: response.headers, id, result, error, text };
}

export type CallModern = (request: ModernRequest) => Promise<Answer>;

/** Sends to `send`, which is `fetch` for a real node and `app.request` for one without a port. */
export function modernCaller(url: string, send: (request: Request) => Response | Promise<Response> = fetch): CallModern {
  return async (request) => await readAnswer(await send(modernRequest(url, request)));
}

export function toolCall(name: string, args: unknown = {}, extra: Partial<ModernRequest> = {}): ModernRequest {
  return { method: "tools/call", params: { name, arguments: args }, ...extra };
}

/** The id of the task that an answer hands out. */
export function taskIdOf(answer: Answer): string {
  return z.object({ resultType: z.literal("task"), taskId: z.string() }).parse(answer.result).taskId;
}

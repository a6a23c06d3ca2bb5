import { z } from "zod";

/** A session of a revision from 2025, spoken over the wire by hand; each request may go to another node of the service. */
export interface LegacySession {
  readonly name: string;
  /** What the server said when the session was opened. */
  readonly server: Readonly<Record<string, unknown>>;
  post(body: unknown, options?: LegacyOptions): Promise<LegacyResponse>;
  /** Opens a stream, at a place where another one ended if an id is given. */
  get(lastEventId?: string, options?: LegacyOptions): Promise<LegacyResponse>;
  end(options?: LegacyOptions): Promise<LegacyResponse>;
  /** Sends a request and reads up to its answer. */
  request(method: string, params?: object, options?: LegacyOptions & { readonly id?: string | number }): Promise<LegacyMessage>;
}

export interface LegacyOptions {
  /** Of the node that gets it; that of the session unless given. */
  readonly url?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LegacyResponse extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; null at the end. Rejects when neither comes in time. For JSON its messages are the events. */
  next(): Promise<LegacyEvent | null>;
  /** Up to the first message that is as wished, that one included. */
  until(wish: (message: LegacyMessage) => boolean): Promise<readonly LegacyEvent[]>;
  rest(): Promise<readonly LegacyEvent[]>;
  /** Hangs up. */
  close(): Promise<void>;
}

export interface LegacyEvent {
  readonly id: string | null;
  /** Null for an event that only names a place in the stream. */
  readonly message: LegacyMessage | null;
}

const messageSchema = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});
export type LegacyMessage = z.infer<typeof messageSchema>;

export interface OpenLegacyOptions {
  readonly url: string;
  readonly token: string;
  readonly revision?: string;
  readonly capabilities?: object;
}

/** Every capability that a client can have. */
export const ALL_CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };

export async function openLegacySession(options: OpenLegacyOptions): Promise<LegacySession> {
  const { url, token, revision = "2025-11-25", capabilities = ALL_CAPABILITIES } = options;
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: "holdfast-tests", version: "1" } };
  await using opened = await send(
    url,
    "POST",
    { Authorization: `Bearer ${token}` },
    { jsonrpc: "2.0", id: 0, method: "initialize", params },
  );
  const name = opened.headers.get("Mcp-Session-Id");
  const server = (await opened.next())?.message?.result;
  if (name === null || server === undefined) throw new Error(`no session was opened: ${opened.status}`);
  const headersOf = (given: LegacyOptions): Record<string, string> => ({
    Authorization: `Bearer ${given.token ?? token}`,
    "Mcp-Session-Id": name,
    "MCP-Protocol-Version": revision,
    ...given.headers,
  });
  const post: LegacySession["post"] = (body, given = {}) => send(given.url ?? url, "POST", headersOf(given), body);
  return {
    name,
    server,
    post,
    get: (lastEventId, given = {}) =>
      send(given.url ?? url, "GET", { ...headersOf(given), ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }) }),
    end: (given = {}) => send(given.url ?? url, "DELETE", headersOf(given)),
    request: async (method, requestParams = {}, given = {}) => {
      const id = given.id ?? 1;
      await using response = await post({ jsonrpc: "2.0", id, method, params: requestParams }, given);
      const events = await response.until((message) => message.method === undefined);
      const message = events.at(-1)?.message;
      if (message === null || message === undefined) throw new Error("there was no answer");
      return message;
    },
  };
}

const DEADLINE_MS = 20_000;

/** One HTTP request as clients of that time send it. */
export async function send(url: string, method: string, headers: Record<string, string>, body?: unknown): Promise<LegacyResponse> {
  const controller = new AbortController();
  const response = await fetch(url, {
    method,
    headers: {
      Accept: "application/json, text/event-stream",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: controller.signal,
  });
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") === true;
  const next = isStream ? eventReader(response) : jsonReader(await response.text());
  const close = async (): Promise<void> => {
    controller.abort();
    await response.body?.cancel().catch(() => undefined);
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    until: async (wish) => {
      const events: LegacyEvent[] = [];
      for (;;) {
        const event = await next();
        if (event === null) throw new Error(`the response ${response.status} ended after ${JSON.stringify(events)}`);
        events.push(event);
        if (event.message !== null && wish(event.message)) return events;
      }
    },
    rest: async () => {
      const events: LegacyEvent[] = [];
      for (let event = await next(); event !== null; event = await next()) events.push(event);
      return events;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function jsonReader(text: string): () => Promise<LegacyEvent | null> {
  const parsed: unknown = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : [];
  const messages = z.array(messageSchema).parse(Array.isArray(parsed) ? parsed : [parsed]);
  return async () => {
    const message = messages.shift();
    return message === undefined ? null : { id: null, message };
  };
}

function eventReader(response: Response): () => Promise<LegacyEvent | null> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";
  return async () => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no event within ${DEADLINE_MS} ms`)), DEADLINE_MS);
    try {
      for (;;) {
        const end = buffered.indexOf("\n\n");
        if (end >= 0) {
          const lines = buffered.slice(0, end).split("\n");
          buffered = buffered.slice(end + 2);
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          const [id, data] = [field("id") ?? null, field("data")];
          if (data !== undefined) return { id, message: data === "" ? null : messageSchema.parse(JSON.parse(data)) };
          continue;
        }
        const read = await Promise.race([reader?.read(), late.promise]);
        if (read === undefined || read.done) return null;
        buffered += read.value;
      }
    } finally {
      clearTimeout(timer);
    }
  };
}

/** An answer to a request of the server's. */
export function answerTo(message: LegacyMessage | null | undefined, result: object): object {
  return { jsonrpc: "2.0", id: message?.id, result };
}

export function callRequest(id: string | number, name: string, args: object = {}, extra: object = {}): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, ...extra } };
}

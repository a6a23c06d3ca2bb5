import { z } from "zod";
import { modernRequest, type ModernRequest } from "./mcp-request.ts";

const messageSchema = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});
/** A JSON-RPC message that came as an event. */
export type StreamedMessage = z.infer<typeof messageSchema>;

/** The response to a request that answers with events, read by somebody who takes them when asked to. */
export interface StreamedResponse extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** Comments so far. */
  readonly comments: readonly string[];
  /** The next message; null when the stream has ended without one. Rejects when neither comes in time. */
  next(): Promise<StreamedMessage | null>;
  /** All messages from here to the end of the stream. */
  rest(): Promise<readonly StreamedMessage[]>;
  /** The messages up to the first that is as wished, that one included. */
  until(wish: (message: StreamedMessage) => boolean): Promise<readonly StreamedMessage[]>;
  /** Hangs up. */
  close(): Promise<void>;
}

const DEADLINE_MS = 20_000;

export async function openStream(
  url: string,
  request: ModernRequest,
  send: (request: Request) => Response | Promise<Response> = fetch,
): Promise<StreamedResponse> {
  const controller = new AbortController();
  const response = await send(modernRequest(url, { ...request, signal: controller.signal }));
  const comments: string[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";

  const next = async (): Promise<StreamedMessage | null> => {
    const expired = AbortSignal.timeout(DEADLINE_MS);
    for (;;) {
      const end = buffered.indexOf("\n\n");
      if (end >= 0) {
        const block = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        const data = block.split("\n").filter((line) => line.startsWith("data: "));
        if (data.length > 0) return messageSchema.parse(JSON.parse(data.map((line) => line.slice(6)).join("\n")));
        comments.push(block);
        continue;
      }
      const late = Promise.withResolvers<never>();
      const fail = (): void => late.reject(new Error(`no event within ${DEADLINE_MS} ms`));
      expired.addEventListener("abort", fail);
      const read = await Promise.race([reader?.read(), late.promise]).finally(() => expired.removeEventListener("abort", fail));
      if (read === undefined || read.done) return null;
      buffered += read.value;
    }
  };
  const close = async (): Promise<void> => {
    controller.abort();
    await reader?.cancel().catch(() => undefined);
  };
  return {
    status: response.status,
    headers: response.headers,
    comments,
    next,
    rest: async () => {
      const messages: StreamedMessage[] = [];
      for (let message = await next(); message !== null; message = await next()) messages.push(message);
      return messages;
    },
    until: async (wish) => {
      const messages: StreamedMessage[] = [];
      for (;;) {
        const message = await next();
        if (message === null) throw new Error(`the stream ended after ${JSON.stringify(messages)}`);
        messages.push(message);
        if (wish(message)) return messages;
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A request to listen for these things, by a client that knows tasks. */
export function listenFor(notifications: unknown, extra: Partial<ModernRequest> = {}): ModernRequest {
  return { method: "subscriptions/listen", params: { notifications }, tasks: true, ...extra };
}

/** Whether a message shows a task in this state. */
export function showsTask(status: string, taskId?: string): (message: StreamedMessage) => boolean {
  return ({ method, params }) =>
    method === "notifications/tasks" && params?.["status"] === status && (taskId === undefined || params["taskId"] === taskId);
}

import { createHash, randomBytes } from "node:crypto";
import { AppError, isStorableText, taskIdFrom, type JsonObject, type TaskId } from "@holdfast/core";
import type { SessionStore, StoredSession } from "@holdfast/db";
import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { z } from "zod";
import { rpcErrorResponse } from "../../http/errors/rpc-error.ts";
import type { Caller } from "../caller.ts";
import type { Cancellations } from "../cancellations.ts";
import type { Exchange } from "../exchange.ts";
import type { TaskHandles } from "../handles.ts";
import type { ListenTiming } from "../listen/listen-endpoint.ts";
import { Released } from "../ordinary-call.ts";
import type { ToolService } from "../tool-service.ts";
import type { CallRunner, CallToRun } from "./call-runner.ts";
import { refusalOf, type LegacyRequest, type LegacySession } from "./legacy-request.ts";
import { errorMessage, readMessage, resultMessage, type AnswerOfClient, type ClientMessage, type RequestId } from "./messages.ts";
import type { LegacyMethods } from "./methods.ts";
import { createReply, type Reply } from "./reply.ts";
import { FEATURES, legacyRevision, type LegacyRevision } from "./revisions.ts";
import { describeServer, readHandshake, type ServerDescription } from "./serve-session.ts";
import type { SessionStreams } from "./session-stream.ts";
import { callName, LAST_POSITION, readTaskQuestionName, readWireName } from "./wire-names.ts";

/** Serves the revisions of MCP that have sessions. No node remembers one: each request finds its session in the store. */
export interface LegacyEndpoint {
  /** `body` is undefined where there was no JSON to read. Never rejects; `exchange` learns of refusals and faults. */
  handle(request: Request, body: unknown, exchange: Exchange): Promise<Response>;
  /** Ends the streams whose clients can go on at another node. */
  drain(): void;
}

export interface LegacyEndpointOptions {
  readonly store: SessionStore;
  readonly methods: LegacyMethods;
  readonly runner: CallRunner;
  readonly streams: SessionStreams;
  readonly service: Pick<ToolService, "updateTask">;
  readonly handles: TaskHandles;
  readonly cancellations: Pick<Cancellations, "abandon">;
  readonly publish: (id: TaskId) => void;
  readonly description: ServerDescription;
  readonly timing: ListenTiming;
  /** Aborted when the node drains. */
  readonly draining: AbortSignal;
  /** Told of what an operator should know of a request whose response has begun. */
  readonly onFault: (error: unknown) => void;
}

const MAX_BATCH = 100;
const SESSION_HEADER = "Mcp-Session-Id";

export function createLegacyEndpoint(options: LegacyEndpointOptions): LegacyEndpoint {
  const { store, methods, runner, streams, service, handles, cancellations, publish, description, timing, draining, onFault } = options;

  async function meet(request: Request, exchange: Exchange): Promise<Met | Response> {
    const name = request.headers.get(SESSION_HEADER);
    if (name === null) return refuse(400, INVALID_REQUEST, `The header ${SESSION_HEADER} is missing: begin with initialize.`);
    const stored = await store.meet({ tokenSha256: digest(name), principal: exchange.principal });
    const revision = stored === null ? null : legacyRevision(stored.revision);
    if (stored === null || revision === null) return refuse(404, SESSION_NOT_FOUND, "Session not found");
    const header = request.headers.get("MCP-Protocol-Version")?.trim();
    if (header !== undefined && header !== revision)
      return refuse(400, INVALID_REQUEST, `The header MCP-Protocol-Version names another revision than the session's, ${revision}.`);
    return { stored, revision };
  }

  async function initialize(message: RequestMessage, exchange: Exchange): Promise<Response> {
    try {
      const { revision, capabilities, clientName } = readHandshake(message.params);
      const name = randomBytes(32).toString("base64url");
      await store.open({ tokenSha256: digest(name), principal: exchange.principal, revision, capabilities, clientName });
      return Response.json(resultMessage(message.id, describeServer(description, revision)), { headers: { [SESSION_HEADER]: name } });
    } catch (error) {
      return Response.json(errorMessage(message.id, refusalOf(error, exchange)));
    }
  }

  async function post(request: Request, body: unknown, exchange: Exchange): Promise<Response> {
    if (body === undefined) return refuse(415, INVALID_REQUEST, "The media type of the body must be application/json.");
    if (!accepts(request, "application/json") || !accepts(request, "text/event-stream"))
      return refuse(406, INVALID_REQUEST, "A client must accept both application/json and text/event-stream.");
    const messages = readBody(body);
    const [only] = messages ?? [];
    if (!Array.isArray(body) && only?.kind === "request" && only.method === "initialize") return await initialize(only, exchange);
    const met = await meet(request, exchange);
    if (met instanceof Response) return met;
    if (Array.isArray(body) && !FEATURES[met.revision].batches)
      return refuse(400, INVALID_REQUEST, `Revision ${met.revision} has no batches: send one message in each body.`);
    if (messages === null) return refuse(400, INVALID_REQUEST, "The body is no JSON-RPC message, or no batch of 1 to 100 of them.");
    if (messages.some((message) => message.kind === "request" && message.method === "initialize"))
      return refuse(400, INVALID_REQUEST, "initialize may not be part of a batch.");
    for (const message of messages) if (message.kind !== "request") await take(message, met, exchange);
    const requests = messages.filter((message) => message.kind === "request");
    if (requests.length === 0) return new Response(null, { status: 202 });
    const isBatch = Array.isArray(body);
    const reply = createReply({ signal: request.signal, exchange, timing, expected: requests.length, isBatch });
    for (const message of requests) serve(message, met, exchange, reply).catch(reply.finish);
    const response = await reply.response;
    // A refusal concerns the whole response only if it is all there is.
    if (isBatch) exchange.refusal = null;
    return response;
  }

  async function serve(message: RequestMessage, met: Met, exchange: Exchange, reply: Reply): Promise<void> {
    const id = newId();
    await deliver(message.id, reply, exchange, callName(id, LAST_POSITION), async () => {
      const answer = methods.get(message.method);
      if (answer === undefined) throw new ProtocolError(-32_601, "Method not found");
      const base = baseOf(message.id, met, exchange, reply);
      if (!methods.mayWait(message.method, message.params)) {
        using wait = waiting(reply);
        return await answer(message.params, { ...base, ...ALONE, signal: wait.signal });
      }
      const call: CallToRun = {
        id,
        method: message.method,
        params: message.params,
        request: base,
        answer: (round) => answer(message.params, { ...base, ...round }),
      };
      return await runner.run(call, methods.isRecorded(message.method));
    });
  }

  async function deliver(id: RequestId, reply: Reply, exchange: Exchange, event: string, work: () => Promise<Result>): Promise<void> {
    try {
      reply.answer(resultMessage(id, await work()), event);
    } catch (error) {
      if (error instanceof Released) return reply.finish();
      // What goes wrong once the response is on its way reaches no log with it.
      const learns = reply.isOpen ? { ...exchange, refusal: null, fault: null } : exchange;
      reply.answer(errorMessage(id, refusalOf(error, learns)), event);
      if (reply.isOpen && learns.fault !== null) onFault(learns.fault);
    }
  }

  /** Waits of this node alone end with their client, and with the node: the client can ask again anywhere. */
  function waiting(reply: Reply): Disposable & { readonly signal: AbortSignal } {
    const released = new AbortController();
    const release = (): void => released.abort(new Released("the client asks again"));
    const signals = [reply.left, draining];
    for (const signal of signals) signal.addEventListener("abort", release);
    if (signals.some(({ aborted }) => aborted)) release();
    return {
      signal: released.signal,
      [Symbol.dispose]: () => signals.forEach((signal) => signal.removeEventListener("abort", release)),
    };
  }

  function baseOf(id: RequestId, met: Met, exchange: Exchange, reply: Reply): Base {
    const session: LegacySession = { id: met.stored.id, revision: met.revision, logLevel: met.stored.logLevel };
    return { id, session, reply, asked: [], caller: callerOf(met, exchange) };
  }

  /** Notifications and answers are accepted whatever they say; what does not fit is left out. */
  async function take(message: Exclude<ClientMessage, RequestMessage>, met: Met, exchange: Exchange): Promise<void> {
    if (message.kind === "answer") return await takeAnswer(message.id, message.answer, met, exchange);
    const cancelled = cancelledSchema.safeParse(message);
    if (!cancelled.success) return;
    const { requestId } = cancelled.data.params;
    for (const { id, taskId } of await store.cancelCalls(met.stored.id, JSON.stringify(requestId))) {
      if (taskId !== null) cancellations.abandon({ id: taskId, principal: exchange.principal }, exchange.requestId);
      publish(id);
    }
  }

  async function takeAnswer(id: RequestId, answer: AnswerOfClient, met: Met, exchange: Exchange): Promise<void> {
    if (typeof id !== "string") return;
    const name = readWireName(id);
    if (name?.kind === "call") {
      // What cannot be kept is an answer all the same: that there is none to use.
      const kept = isStorableText(JSON.stringify(answer)) ? answer : { error: {} };
      const { callId, position } = name;
      if (await store.answerQuestion({ sessionId: met.stored.id, callId, position, answer: kept })) publish(callId);
      return;
    }
    const question = readTaskQuestionName(id);
    const result = objectSchema.safeParse("result" in answer ? answer.result : null);
    // A client that answers with an error leaves the question open, for itself or another of its principal.
    if (question === null || !result.success) return;
    const caller = callerOf(met, exchange);
    const address = handles.open({ generation: "l", principal: caller.principal }, question.handle);
    if (address === null) return;
    await service.updateTask(caller, address, { [question.key]: result.data }).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code === "storage_unavailable" || error.code === "overloaded") throw error;
    });
  }

  async function get(request: Request, exchange: Exchange): Promise<Response> {
    if (!accepts(request, "text/event-stream")) return refuse(406, INVALID_REQUEST, "A client must accept text/event-stream.");
    const met = await meet(request, exchange);
    if (met instanceof Response) return met;
    const { stored: session, revision } = met;
    const last = request.headers.get("Last-Event-ID");
    const name = last === null ? null : readWireName(last);
    if (last !== null && name === null) return refuse(400, INVALID_REQUEST, "Last-Event-ID names no event of this session.");
    if (name === null || name.kind === "session") {
      const since = name?.at ?? null;
      const response = await streams.open({ session, revision, since, exchange, signal: request.signal });
      return response ?? refuse(404, SESSION_NOT_FOUND, "Session not found");
    }
    const reply = createReply({ signal: request.signal, exchange, timing, expected: 1, isBatch: false });
    if (name.kind === "result") {
      const base = baseOf(name.requestId, met, exchange, reply);
      const answer = methods.get("tasks/result");
      reply.resumeFrom(last ?? "");
      reply.open();
      deliver(name.requestId, reply, exchange, last ?? "", async () => {
        if (answer === undefined) throw new Error("there is no method for results");
        using wait = waiting(reply);
        return await answer({ taskId: name.handle }, { ...base, ...ALONE, asked: name.asked, signal: wait.signal });
      }).catch(reply.finish);
      return await reply.response;
    }
    return await resumeCall(name, met, exchange, reply);
  }

  async function resumeCall(name: { callId: TaskId; position: number }, met: Met, exchange: Exchange, reply: Reply): Promise<Response> {
    const stored = await store.takeOverCall(met.stored.id, name.callId);
    const answer = stored === null ? undefined : methods.get(stored.method);
    if (stored === null || answer === undefined) return refuse(400, INVALID_REQUEST, "Last-Event-ID names no event of this session.");
    reply.resumeFrom(callName(stored.id, name.position));
    reply.open();
    if (name.position === LAST_POSITION || (stored.isAnswered && stored.taskId === null)) {
      reply.finish();
      return await reply.response;
    }
    const id = requestIdSchema.parse(JSON.parse(stored.requestId));
    const base = baseOf(id, met, exchange, reply);
    const { method, params } = stored;
    const call: CallToRun = {
      id: stored.id,
      method,
      params,
      request: base,
      answer: (round) => answer(params, { ...base, ...round }),
    };
    deliver(id, reply, exchange, callName(stored.id, LAST_POSITION), () => runner.resume(call, stored, name.position)).catch(reply.finish);
    return await reply.response;
  }

  async function end(request: Request, exchange: Exchange): Promise<Response> {
    const met = await meet(request, exchange);
    if (met instanceof Response) return met;
    const { principal, requestId } = exchange;
    const ended = await store.end({ tokenSha256: digest(request.headers.get(SESSION_HEADER) ?? ""), principal });
    for (const id of ended?.abandoned ?? []) cancellations.abandon({ id, principal }, requestId);
    for (const id of [met.stored.id, ...(ended?.calls ?? [])]) publish(id);
    return new Response(null, { status: 204 });
  }

  const route = async (request: Request, body: unknown, exchange: Exchange): Promise<Response> => {
    switch (request.method) {
      case "POST":
        return await post(request, body, exchange);
      case "GET":
        return await get(request, exchange);
      case "DELETE":
        return await end(request, exchange);
      default:
        return refuse(405, -32_000, "Method not allowed.", { Allow: "GET, POST, DELETE" });
    }
  };

  return {
    handle: async (request, body, exchange) => {
      try {
        return await route(request, body, exchange);
      } catch (error) {
        const { code, message, data } = refusalOf(error, exchange);
        return rpcErrorResponse({ status: 500, code, message, ...(data === undefined ? {} : { data }) });
      }
    },
    drain: () => {
      streams.drain();
      runner.drain();
    },
  };
}

type RequestMessage = Extract<ClientMessage, { kind: "request" }>;
type Base = Pick<LegacyRequest, "id" | "session" | "reply" | "asked" | "caller">;

interface Met {
  readonly stored: StoredSession;
  readonly revision: LegacyRevision;
}

const INVALID_REQUEST = -32_600;
const SESSION_NOT_FOUND = -32_001;

const requestIdSchema = z.union([z.string(), z.number()]);
const cancelledSchema = z.object({ method: z.literal("notifications/cancelled"), params: z.object({ requestId: requestIdSchema }) });
const objectSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const ALONE = {
  responses: null,
  requestState: null,
  onAdmitted: async (): Promise<void> => undefined,
  onAccepted: async (): Promise<void> => undefined,
};

function callerOf({ stored }: Met, { principal, requestId }: Exchange): Caller {
  return { principal, requestId, declaresTasks: false, capabilities: stored.capabilities };
}

function newId(): TaskId {
  return taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) });
}

function digest(name: string): Uint8Array {
  return createHash("sha256").update(name).digest();
}

function accepts(request: Request, type: string): boolean {
  return (request.headers.get("Accept") ?? "").toLowerCase().includes(type);
}

function refuse(status: number, code: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return rpcErrorResponse({ status, code, message, headers });
}

function readBody(body: unknown): readonly ClientMessage[] | null {
  const values: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (values.length === 0 || values.length > MAX_BATCH) return null;
  const messages = values.flatMap((value) => readMessage(value) ?? []);
  return messages.length === values.length ? messages : null;
}

import { CLIENT_CAPABILITIES_META_KEY, ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import { AppError, type JsonObject, type JsonValue } from "@holdfast/core";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { clientError } from "../client-error.ts";
import type { Exchange } from "../exchange.ts";
import { invalidArguments, parseArguments } from "../parse-arguments.ts";
import type { Serve, ServedRequest } from "../serve.ts";
import type { ExactServer } from "./exact-server.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** One request of revision 2026-07-28, for those who answer it. */
export interface ModernRequest extends ServedRequest {
  readonly context: ServerContext;
}

export function serveOn(server: ExactServer, exchange: Exchange, body: unknown): Serve<ModernRequest> {
  return (method, params, answer) => {
    // The SDK's own refusal would dump its schema library's text, so nothing is left for it to refuse.
    server.setRequestHandler(method, { params: anyParams }, async (given, context) => {
      try {
        refuseMalformedResponses(body);
        return await answer(parseArguments(params, given), requestOf(exchange, context));
      } catch (error) {
        throw toProtocolError(error, exchange, context);
      }
    });
  };
}

const anyParams: z.ZodType<Record<string, JsonValue>> = z.record(
  z.string(),
  z.custom<JsonValue>(() => true),
);

/** Where the body has no answers by their keys, the SDK shows none at all, which would be acknowledged as an update. */
function refuseMalformedResponses(body: unknown): void {
  if (retrySchema.safeParse(body).success) return;
  throw invalidArguments([{ path: "inputResponses", message: "expected answers by the keys of their questions" }]);
}

const retrySchema = z.object({ params: z.object({ inputResponses: z.record(z.string(), z.unknown()).optional() }).optional() });

function requestOf(exchange: Exchange, context: ServerContext): ModernRequest {
  const capabilities = envelopeSchema.safeParse(context.mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
  const state = context.mcpReq.requestState();
  return {
    caller: {
      principal: exchange.principal,
      requestId: exchange.requestId,
      declaresTasks: declarationSchema.safeParse(capabilities).success,
      capabilities,
    },
    context,
    responses: responsesSchema.parse(context.mcpReq.inputResponses) ?? null,
    requestState: typeof state === "string" ? state : null,
  };
}

const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const envelopeSchema = z.object({ [CLIENT_CAPABILITIES_META_KEY]: jsonObject });
const declarationSchema = z.object({ extensions: z.object({ [TASKS_EXTENSION]: z.looseObject({}) }) });
/** The SDK has left out what is no object. */
const responsesSchema = z.record(z.string(), jsonObject).optional();

/** Only what is thrown here reaches the caller: the SDK would send the text of any other exception. */
function toProtocolError(error: unknown, exchange: Exchange, context: ServerContext): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof AppError && error.code !== "internal") {
    exchange.refusal = error;
    const { code, message, data } = clientError(error);
    return new ProtocolError(code, message, data);
  }
  const reference = randomUUID();
  // A caller that has gone made the handler end early; that is no fault of ours.
  if (!context.mcpReq.signal.aborted) exchange.fault = new Error(`a request failed, reference ${reference}`, { cause: error });
  const { code, message } = clientError({ code: "internal", data: undefined });
  return new ProtocolError(code, message, { reference });
}

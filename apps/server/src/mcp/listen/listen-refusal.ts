import { randomUUID } from "node:crypto";
import { AppError, ERRORS } from "@holdfast/core";
import { clientError, type ClientError } from "../client-error.ts";
import type { Exchange } from "../exchange.ts";
import type { SubscriptionId } from "./messages.ts";

/** The answer to a listen request for which no stream was opened, with the status that the same refusal has for other methods. */
export function listenRefusal(error: unknown, id: SubscriptionId, exchange: Exchange): Response {
  if (error instanceof AppError && error.code !== "internal") {
    exchange.refusal = error;
    return answer(ERRORS[error.code].httpStatus, id, clientError(error));
  }
  const reference = randomUUID();
  exchange.fault = new Error(`a listen request failed, reference ${reference}`, { cause: error });
  return answer(200, id, { ...clientError({ code: "internal", data: undefined }), data: { reference } });
}

function answer(status: number, id: SubscriptionId, error: ClientError): Response {
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}

import { ProtocolError } from "@modelcontextprotocol/server";
import { AppError, type Task, type TaskId } from "@holdfast/core";
import { randomUUID } from "node:crypto";
import { clientError, type ClientError } from "../client-error.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedRequest } from "../serve.ts";
import type { RequestId } from "./messages.ts";
import type { Reply } from "./reply.ts";
import type { LegacyRevision } from "./revisions.ts";

/** A session on its way through one request. */
export interface LegacySession {
  readonly id: TaskId;
  readonly revision: LegacyRevision;
  /** From which level on its client wants log messages; null until it says so. */
  readonly logLevel: string | null;
}

/** One request of a session, for those who answer it. */
export interface LegacyRequest extends ServedRequest {
  readonly id: RequestId;
  readonly session: LegacySession;
  readonly reply: Reply;
  /** Keys of a task's questions that the client has been asked before the stream was resumed. */
  readonly asked: readonly string[];
  /** Aborted with what ends the waiting: the client has cancelled, or somebody else goes on with it. */
  readonly signal: AbortSignal;
  /** Told of the task of an ordinary call before it is waited for. */
  readonly onAdmitted: (task: Task) => Promise<void>;
  /** Told of the task that is the answer itself. */
  readonly onAccepted: (task: Task) => Promise<void>;
}

/** What a caller is told of whatever was thrown. The exchange learns what its HTTP response or the log should say too. */
export function refusalOf(error: unknown, exchange: Exchange): ClientError {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { code, message, ...(isData(data) ? { data } : {}) };
  }
  if (error instanceof AppError && error.code !== "internal") {
    exchange.refusal = error;
    return clientError(error);
  }
  const reference = randomUUID();
  exchange.fault = new Error(`a request failed, reference ${reference}`, { cause: error });
  return { ...clientError({ code: "internal", data: undefined }), data: { reference } };
}

function isData(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null;
}

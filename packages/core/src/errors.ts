/**
 * Everything that can go wrong and has a name. A code does not compile without its row, so every fault has an answer on
 * the wire, a retry class and somebody it is meant for.
 */
export type ErrorCode =
  | "unauthenticated"
  | "insufficient_scope"
  | "workspace_not_found"
  | "task_not_found"
  | "task_cancelled"
  | "artifact_not_found"
  | "tool_not_found"
  | "invalid_arguments"
  | "invalid_request"
  | "capability_required"
  | "header_mismatch"
  | "request_state_invalid"
  | "request_key_required"
  | "request_key_conflict"
  | "overloaded"
  | "storage_unavailable"
  | "internal"
  | "operation_failed"
  | "operation_timed_out"
  | "operation_crashed"
  | "operation_output_invalid"
  | "operation_unknown"
  | "worker_lost"
  | "checkpoint_stuck"
  | "write_unresolved";

export interface ErrorKind {
  /** JSON-RPC error code. */
  readonly rpcCode: number;
  /** HTTP status where the answer is not a JSON-RPC result of an accepted request. */
  readonly httpStatus: number;
  /** `never`: the same again gives the same; `budget`: another attempt may help and costs one; `immediately`: at once, free. */
  readonly retry: "never" | "budget" | "immediately";
  readonly audience: "caller" | "operator";
  /** The fixed text that clients see. Nothing from an exception is ever put into it (contract 1.5, 2.7). */
  readonly message: string;
}

const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const INVALID_REQUEST = -32600;
/** These two are MCP's own. */
const HEADER_MISMATCH = -32020;
const MISSING_CAPABILITY = -32021;

export const ERRORS: Readonly<Record<ErrorCode, ErrorKind>> = {
  unauthenticated: {
    rpcCode: INVALID_REQUEST,
    httpStatus: 401,
    retry: "never",
    audience: "caller",
    message: "A valid access token is required.",
  },
  insufficient_scope: {
    rpcCode: INVALID_REQUEST,
    httpStatus: 403,
    retry: "never",
    audience: "caller",
    message: "The access token lacks a scope that this operation needs.",
  },
  // One answer for a workspace that does not exist and one without a grant: neither is confirmed (contract 2.4).
  workspace_not_found: {
    rpcCode: INVALID_PARAMS,
    httpStatus: 200,
    retry: "never",
    audience: "caller",
    message: "No such workspace, or no grant for it.",
  },
  task_not_found: { rpcCode: INVALID_PARAMS, httpStatus: 200, retry: "never", audience: "caller", message: "Task not found." },
  // What an ordinary call says whose task somebody cancelled; a task itself says `cancelled`.
  task_cancelled: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "never",
    audience: "caller",
    message: "The call was cancelled before it finished.",
  },
  artifact_not_found: { rpcCode: INVALID_PARAMS, httpStatus: 200, retry: "never", audience: "caller", message: "Resource not found." },
  tool_not_found: { rpcCode: INVALID_PARAMS, httpStatus: 200, retry: "never", audience: "caller", message: "Unknown tool." },
  invalid_arguments: { rpcCode: INVALID_PARAMS, httpStatus: 200, retry: "never", audience: "caller", message: "Invalid arguments." },
  invalid_request: { rpcCode: INVALID_REQUEST, httpStatus: 400, retry: "never", audience: "caller", message: "Invalid request." },
  capability_required: {
    rpcCode: MISSING_CAPABILITY,
    httpStatus: 400,
    retry: "never",
    audience: "caller",
    message: "This request needs a client capability that was not declared with it. Nothing was done.",
  },
  header_mismatch: {
    rpcCode: HEADER_MISMATCH,
    httpStatus: 400,
    retry: "never",
    audience: "caller",
    message: "The headers and the body of the request disagree.",
  },
  request_state_invalid: {
    rpcCode: INVALID_PARAMS,
    httpStatus: 200,
    retry: "never",
    audience: "caller",
    message: "This requestState was not given for this request, or it has expired. Nothing was done.",
  },
  request_key_required: {
    rpcCode: INVALID_PARAMS,
    httpStatus: 200,
    retry: "never",
    audience: "caller",
    message: "This operation changes files and runs as a task only: give it a requestKey of 1 to 256 characters.",
  },
  request_key_conflict: {
    rpcCode: INVALID_PARAMS,
    httpStatus: 200,
    retry: "never",
    audience: "caller",
    message: "This requestKey stands for another request already. Nothing was done: give this one a key of its own.",
  },
  overloaded: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 503,
    retry: "immediately",
    audience: "caller",
    message: "The service is busy. Try again shortly.",
  },
  storage_unavailable: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 503,
    retry: "immediately",
    audience: "operator",
    message: "The service cannot reach its database. Try again shortly.",
  },
  internal: { rpcCode: INTERNAL_ERROR, httpStatus: 500, retry: "never", audience: "operator", message: "Internal error." },
  operation_failed: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "never",
    audience: "operator",
    message: "The operation failed unexpectedly.",
  },
  operation_timed_out: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "never",
    audience: "caller",
    message: "The operation exceeded its time limit.",
  },
  operation_crashed: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "budget",
    audience: "operator",
    message: "The operation's process ended before it answered, repeatedly.",
  },
  operation_output_invalid: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "never",
    audience: "operator",
    message: "The operation answered something that cannot be delivered.",
  },
  operation_unknown: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "budget",
    audience: "operator",
    message: "No version of this operation is available to run it.",
  },
  worker_lost: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "budget",
    audience: "operator",
    message: "The workers that ran this task were lost, repeatedly.",
  },
  // A second attempt from the same checkpoint died like the first (contract 5.5).
  checkpoint_stuck: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "never",
    audience: "operator",
    message: "The operation ended twice at the same place.",
  },
  write_unresolved: {
    rpcCode: INTERNAL_ERROR,
    httpStatus: 200,
    retry: "never",
    audience: "operator",
    message: "The write was interrupted and its files were changed by somebody else since: what was written needs a look.",
  },
};

/** A fault with a name. `message` is for operators; clients see the fixed text of the code's row. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  /** Added to the JSON-RPC error for the caller: only values that the caller sent or may know. */
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; data?: Readonly<Record<string, unknown>> }) {
    super(message, options);
    this.code = code;
    this.data = options?.data;
  }
}

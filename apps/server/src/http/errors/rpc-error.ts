import { ERRORS, type ErrorCode } from "@holdfast/core";

/** A refusal before there was a request that could be answered: JSON-RPC asks for the id null then. */
export function rpcErrorResponse(error: {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}): Response {
  const { status, code, message, data, headers = {} } = error;
  return Response.json(
    { jsonrpc: "2.0", id: null, error: { code, message, ...(data === undefined ? {} : { data }) } },
    { status, headers },
  );
}

/** The same by its row in the table of errors. */
export function namedErrorResponse(
  code: ErrorCode,
  extra: { data?: Record<string, unknown>; headers?: Record<string, string> } = {},
): Response {
  const { rpcCode, httpStatus, message } = ERRORS[code];
  return rpcErrorResponse({ status: httpStatus, code: rpcCode, message, ...extra });
}

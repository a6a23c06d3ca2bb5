import { AppError, type ErrorCode } from "@holdfast/core";
import { DrizzleQueryError } from "drizzle-orm";

/**
 * A fault of Postgres, or of the way to it, as an error with a name. `attempted` says what was tried, for the operator.
 * "internal" means that the database received the statement and refused it for what it says.
 */
export function storageError(error: unknown, attempted: string): AppError {
  if (error instanceof AppError) return error;
  const fault = withoutWrapping(error);
  return new AppError(codeFor(fault), `${attempted}: ${fault instanceof Error ? fault.message : String(fault)}`, { cause: fault });
}

/** SQLSTATE of the error or of one of its causes, or null when the server did not answer with one. */
export function sqlStateOf(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string" && /^[0-9A-Z]{5}$/u.test(cause.code) && "severity" in cause) return cause.code;
  }
  return null;
}

/** Name of the constraint that the statement would have broken, or null. */
export function brokenConstraint(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("constraint" in cause && typeof cause.constraint === "string") return cause.constraint;
  }
  return null;
}

/** The query layer wraps what the driver threw into a text with the whole statement and its values. */
function withoutWrapping(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error;
}

function codeFor(error: unknown): ErrorCode {
  const state = sqlStateOf(error);
  if (state !== null) return codeForState(state);
  if (!(error instanceof Error)) return "internal";
  // Every connection of the pool is busy: the database may be well, it is us who have too much to do.
  if (error.message.includes("timeout exceeded when trying to connect")) return "overloaded";
  return isConnectionFault(error) ? "storage_unavailable" : "internal";
}

function codeForState(state: string): ErrorCode {
  switch (state) {
    case "53300": // too_many_connections
    case "53400": // configuration_limit_exceeded
      return "overloaded";
    case "25006": // read_only_sql_transaction: a failover left this connection on a standby
    case "3D000": // invalid_catalog_name
    case "40001": // serialization_failure
    case "40P01": // deadlock_detected
    case "55P03": // lock_not_available
    case "57014": // query_canceled, by statement_timeout or by an operator
      return "storage_unavailable";
    default:
      // Connections, authentication, resources, shutdown and recovery, input and output of the server.
      return /^(?:08|28|53|57P|58)/u.test(state) ? "storage_unavailable" : "internal";
  }
}

/** What the driver and the socket report; the driver's own complaints carry no code. */
function isConnectionFault(error: Error): boolean {
  if (error instanceof AggregateError) return error.errors.some((inner) => inner instanceof Error && isConnectionFault(inner));
  if ("code" in error && typeof error.code === "string" && /^E[A-Z_]+$/u.test(error.code)) return true;
  return /^Connection terminated|^Query read timeout|^timeout expired|connection error and is not queryable|after calling end on the pool/u.test(
    error.message,
  );
}

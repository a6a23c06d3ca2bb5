import { MigrationError } from "./migrations-folder.ts";

/** One line for the operator when a process could not start because of its database; null when the error is about something else. */
export function explainStartFailure(error: unknown, url: string): string | null {
  return error instanceof MigrationError ? error.message : explainConnectionError(error, url);
}

/**
 * One line for the operator when the database of that URL cannot be used, its password masked; null when the error is about something else.
 *
 * For the start of a process: in the middle of its life the same errors are transient.
 */
export function explainConnectionError(error: unknown, url: string): string | null {
  const target = parseTarget(url);
  if (target.problem !== null) return `unusable database URL: ${target.problem}`;
  for (const cause of causesOf(error)) {
    const reason = reasonFor(cause, target);
    if (reason !== null) return `cannot use the database ${target.masked}: ${reason}`;
  }
  return null;
}

interface Target {
  /** Without password and without parameters, which may hold one too. */
  readonly masked: string;
  readonly host: string;
  readonly user: string;
  readonly database: string;
  /** What is wrong with the URL itself; never quotes it, because a URL that cannot be parsed cannot be masked. */
  readonly problem: string | null;
}

function parseTarget(url: string): Target {
  const parsed = URL.parse(url);
  const unusable = (problem: string): Target => ({ masked: "", host: "", user: "", database: "", problem });
  if (url.trim() === "") return unusable("it is empty, and should look like postgres://user:password@host:5432/database");
  if (parsed === null) {
    return unusable(
      "it cannot be parsed; special characters in the password must be percent-encoded (postgres://user:password@host:5432/database)",
    );
  }
  if (parsed.protocol !== "postgres:" && parsed.protocol !== "postgresql:") {
    return unusable(`it starts with ${parsed.protocol}// and must start with postgres://`);
  }
  try {
    const user = decodeURIComponent(parsed.username);
    const host = parsed.host === "" ? (parsed.searchParams.get("host") ?? "localhost") : parsed.host;
    const database = decodeURIComponent(parsed.pathname.slice(1));
    const credentials = parsed.username === "" ? "" : `${parsed.username}${parsed.password === "" ? "" : ":***"}@`;
    decodeURIComponent(parsed.password);
    return { masked: `${parsed.protocol}//${credentials}${host}${parsed.pathname}`, host, user, database, problem: null };
  } catch {
    return unusable("a percent sign in it is not followed by two hexadecimal digits; a literal one is written %25");
  }
}

interface Facts {
  readonly code: string;
  readonly message: string;
}

/** The error, the errors it aggregates (one per address that was tried), and the causes of all of them, the nearest first. */
function causesOf(error: unknown, depth = 0): Facts[] {
  if (!(error instanceof Error) || depth > 8) return [];
  const facts = { code: "code" in error && typeof error.code === "string" ? error.code : "", message: error.message };
  const inner: unknown[] = error instanceof AggregateError ? error.errors : [];
  return [facts, ...[...inner, error.cause].flatMap((cause) => causesOf(cause, depth + 1))];
}

function reasonFor({ code, message }: Facts, { host, user, database }: Target): string | null {
  switch (code) {
    case "ECONNREFUSED":
      return `connection refused: no Postgres listens at ${host}`;
    case "ENOENT":
      return /, open /u.test(message)
        ? `a file that the URL names is not there (${oneLine(message)})`
        : `there is no socket of a Postgres in ${host}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the host ${host} is unknown`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `the host ${host} does not answer`;
    case "ECONNRESET":
    case "EPIPE":
      return `${host} closed the connection`;
    case "28P01":
      return `wrong password for ${user}`;
    case "28000":
      return `the server refuses ${user}: ${oneLine(message)}`;
    case "3D000":
      return `there is no database named ${database}`;
    case "42501":
      return /for database/u.test(message) ? oneLine(message) : null;
    case "53300":
      return `all connections of the server are taken (${oneLine(message)})`;
    case "57P03":
      return `the server is not ready (${oneLine(message)})`;
  }
  return tlsReason(code, message) ?? driverReason(message, user, host);
}

function tlsReason(code: string, message: string): string | null {
  if (/CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)/u.test(code)) return `the certificate of the server is not trusted (${oneLine(message)})`;
  if (code.startsWith("ERR_SSL") || code === "EPROTO") return `TLS failed (${oneLine(message)})`;
  if (message.includes("does not support SSL")) return "the server speaks no TLS: start it with TLS or use sslmode=disable";
  return null;
}

/** The driver's own complaints have no code. */
function driverReason(message: string, user: string, host: string): string | null {
  if (message.includes("client password must be"))
    return `the server asks for a password of ${user === "" ? "the user" : user} and the URL has none`;
  if (/timeout expired|due to connection timeout|timeout exceeded when trying to connect/u.test(message))
    return `${host} did not answer in time`;
  if (message.includes("Connection terminated unexpectedly")) return `${host} closed the connection; is it a Postgres?`;
  return null;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

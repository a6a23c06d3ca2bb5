import { AppError, type JsonValue } from "@holdfast/core";
import type { ToolDescription } from "./tool-catalog.ts";

/** An argument that clients mirror in a header, so that what lies between can route by it (SEP-2243). */
interface MirroredArgument {
  readonly path: readonly string[];
  readonly header: string;
  readonly isNumeric: boolean;
}

/** Throws `AppError` "header_mismatch" when a header that has to be there is not, or says something else than the body. */
export type CheckParamHeaders = (tool: string, given: JsonValue, headers: Headers) => void;

/** Throws for a tool whose `x-mcp-header` is none that clients could follow: they would leave out the whole tool. */
export function createParamHeaderCheck(tools: readonly ToolDescription[]): CheckParamHeaders {
  const mirroredByTool = new Map(tools.map(({ name, inputSchema }) => [name, mirroredArguments(name, inputSchema)]));
  return (tool, given, headers) => {
    for (const { path, header, isNumeric } of mirroredByTool.get(tool) ?? []) {
      const text = headerText(valueAt(given, path));
      // Nothing to mirror: a header for it is nobody's concern.
      if (text === null) continue;
      const sent = headers.get(header);
      if (sent === null) throw mismatch(header, `the body has ${path.join(".")} and the header is missing`);
      const said = decoded(sent);
      if (said === null) throw mismatch(header, "the header is not valid Base64 of UTF-8");
      if (said !== text && !(isNumeric && DECIMAL.test(said) && Number(said) === Number(text)))
        throw mismatch(header, `the header says something else than ${path.join(".")} in the body`);
    }
  };
}

const KEYWORD = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u;
const DECIMAL = /^-?\d+(?:\.\d+)?$/u;

function mirroredArguments(tool: string, inputSchema: unknown): readonly MirroredArgument[] {
  const found: MirroredArgument[] = [];
  const visit = (schema: unknown, path: readonly string[], isReachable: boolean): void => {
    if (Array.isArray(schema)) for (const branch of schema) visit(branch, path, false);
    if (!isRecord(schema)) return;
    const name = schema[KEYWORD];
    // A member that is itself called so is no annotation, and its schema is an object.
    if (typeof name === "string") {
      const { type } = schema;
      if (!isReachable || path.length === 0) throw unusable(tool, name, "stands where no client looks for it");
      if (!TOKEN.test(name)) throw unusable(tool, name, "is no header name");
      if (type !== "string" && type !== "integer" && type !== "boolean") throw unusable(tool, name, "is for texts, integers and booleans");
      const header = `Mcp-Param-${name}`;
      if (found.some((other) => other.header.toLowerCase() === header.toLowerCase())) throw unusable(tool, name, "is used twice");
      found.push({ path, header, isNumeric: type === "integer" });
    }
    for (const [keyword, below] of Object.entries(schema)) {
      if (keyword === "properties" && isRecord(below))
        for (const [member, property] of Object.entries(below)) visit(property, [...path, member], isReachable);
      // Values are data, whatever they look like.
      else if (!DATA.includes(keyword)) visit(below, path, false);
    }
  };
  visit(inputSchema, [], true);
  return found;
}

const DATA: readonly string[] = ["default", "const", "enum", "examples"];

function unusable(tool: string, name: string, why: string): Error {
  return new Error(`the tool "${tool}" has the ${KEYWORD} "${name}", which ${why}`);
}

function valueAt(given: JsonValue, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, member) => (isRecord(value) && Object.hasOwn(value, member) ? value[member] : undefined), given);
}

/** As the body's value stands in a header; null for what has none. Integers that a number cannot hold exactly are left out. */
function headerText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? String(value) : null;
}

const WRAPPED = /^=\?base64\?(?<base64>.*)\?=$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What a header says: as it is, or Base64 of UTF-8 in MCP's wrapping. Null for a wrapping around something else. */
function decoded(value: string): string | null {
  const base64 = WRAPPED.exec(value)?.groups?.["base64"];
  if (base64 === undefined) return value;
  if (!BASE64.test(base64)) return null;
  try {
    return utf8.decode(Buffer.from(base64, "base64"));
  } catch {
    return null;
  }
}

function mismatch(header: string, detail: string): AppError {
  return new AppError("header_mismatch", `${header}: ${detail}`, { data: { mismatch: { header, body: detail } } });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

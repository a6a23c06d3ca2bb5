import { rpcErrorResponse } from "../errors/rpc-error.ts";
import { inspectJson } from "./inspect-json.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

export const BODY_LIMITS: BodyLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 100 };

export type JsonBody =
  | { readonly kind: "json"; readonly value: unknown; readonly length: number }
  | { readonly kind: "refused"; readonly response: Response };

/**
 * The body as JSON, read once, with its length in bytes. What is refused here has started nothing: bytes that are not UTF-8 or not JSON, a byte order
 * mark (RFC 8259 forbids it), an empty body, and JSON that is too large, too deep, ambiguous, or out of range.
 */
export async function readJsonBody(request: Request, limits: BodyLimits = BODY_LIMITS): Promise<JsonBody> {
  const bytes = await readBytes(request, limits.maxBytes);
  if (bytes === "tooLarge") return refuse(413, INVALID_REQUEST, `The request body is larger than ${limits.maxBytes} bytes.`);
  if (bytes === "broken") return refuse(400, PARSE_ERROR, "The request body ended early.");
  if (bytes.byteLength === 0) return refuse(400, PARSE_ERROR, "The request body is empty.");
  const text = decode(bytes);
  if (text === null) return refuse(400, PARSE_ERROR, "The request body is not UTF-8.");
  const value = parse(text);
  if (value === undefined) return refuse(400, PARSE_ERROR, "The request body is not JSON.");
  switch (inspectJson(text, limits.maxDepth)) {
    case "deep":
      return refuse(400, INVALID_REQUEST, `The request body is nested more than ${limits.maxDepth} levels deep.`);
    case "duplicate":
      return refuse(400, INVALID_REQUEST, "The request body names a member twice.");
    case "huge":
      return refuse(400, INVALID_REQUEST, "The request body holds a number that is out of range.");
    case null:
      return { kind: "json", value, length: bytes.byteLength };
  }
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

function refuse(status: number, code: number, message: string): JsonBody {
  return { kind: "refused", response: rpcErrorResponse({ status, code, message }) };
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | "tooLarge" | "broken"> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) return "tooLarge";
  try {
    // HTTP delivers no more than the declared length, and reading all at once is much the faster way.
    return declared === null ? await readChunks(request, maxBytes) : new Uint8Array(await request.arrayBuffer());
  } catch {
    return "broken";
  }
}

async function readChunks(request: Request, maxBytes: number): Promise<Uint8Array | "tooLarge"> {
  if (request.body === null) return new Uint8Array();
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      return "tooLarge";
    }
    chunks.push(read.value);
  }
  return Buffer.concat(chunks);
}

/** With the mark kept, since silently dropping it is what makes two readers disagree; JSON.parse then refuses it. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

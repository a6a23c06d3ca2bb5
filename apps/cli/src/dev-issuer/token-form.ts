import type { IncomingMessage } from "node:http";

const longestBody = 16 * 1024;

/** The form in the body of a token request; null when it is something else, or too long to be one. */
export async function readTokenForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const [mediaType] = (request.headers["content-type"] ?? "").split(";");
  if (mediaType?.trim().toLowerCase() !== "application/x-www-form-urlencoded") return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) return null;
    size += chunk.length;
    if (size > longestBody) return null;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

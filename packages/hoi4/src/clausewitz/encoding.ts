import { Buffer, isUtf8 } from "node:buffer";
import type { Encoding, ScriptFile } from "./syntax.ts";

/** Strict UTF-8 wins; a file with one bad byte is Windows-1252 as a whole, because the game has no mixed files either. */
export function detectEncoding(bytes: Uint8Array): Encoding {
  if (!isUtf8(bytes)) return "windows-1252";
  return startsWithBom(bytes) ? "utf-8-bom" : "utf-8";
}

/** Decodes part of a file's bytes in that file's encoding. */
export function decodeBytes({ bytes, encoding }: Pick<ScriptFile, "bytes" | "encoding">, start: number, end: number): string {
  const view = asBuffer(bytes);
  return encoding === "windows-1252" ? fromWindows1252(view.toString("latin1", start, end)) : view.toString("utf8", start, end);
}

/**
 * The bytes of new text as this file would hold it: in its encoding and with its first line end for every `\n`.
 * Null when the encoding has no place for a character.
 */
export function encodeText(file: Pick<ScriptFile, "bytes" | "encoding">, text: string): Uint8Array | null {
  const lines = text.replaceAll("\n", firstLineEnd(file.bytes));
  if (file.encoding !== "windows-1252") return lines.isWellFormed() ? Buffer.from(lines, "utf8") : null;
  const bytes: number[] = [];
  for (const character of lines) {
    const byte = toWindows1252(character);
    if (byte === null) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

export function startsWithBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Both byte orders; a mark of UTF-16 is never valid UTF-8. */
export function startsWithUtf16Mark(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** Offset of the first byte that keeps `bytes` from being UTF-8; the length when there is none. */
export function firstInvalidUtf8(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at]!;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > 1 && !isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return at;
}

/** A view, not a copy: Buffer decodes a range without an intermediate array. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// Written out because a TextDecoder for windows-1252 depends on the ICU of the runtime. Unassigned bytes keep their Latin-1 meaning, so every byte round-trips.
const upperControls =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

function fromWindows1252(latin1: string): string {
  return latin1.replaceAll(/[\u0080-\u009f]/g, (character) => upperControls[character.charCodeAt(0) - 0x80]!);
}

function toWindows1252(character: string): number | null {
  const upper = upperControls.indexOf(character);
  if (upper >= 0) return 0x80 + upper;
  const code = character.codePointAt(0)!;
  return code < 0x80 || (code >= 0xa0 && code <= 0xff) ? code : null;
}

function firstLineEnd(bytes: Uint8Array): string {
  const at = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (at < 0 || bytes[at] === 0x0a) return "\n";
  return bytes[at + 1] === 0x0a ? "\r\n" : "\r";
}

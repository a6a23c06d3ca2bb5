import { Buffer } from "node:buffer";
import { parseScript } from "../parse-script.ts";
import type { Block, Entry, ParseLimits, ScriptFile, Value } from "../syntax.ts";

export function parseText(text: string, limits: ParseLimits = {}): ScriptFile {
  return parseScript(Buffer.from(text, "utf8"), limits);
}

/** The tree on one line: quotes stay, `~` is an operator that is understood, `?` a forgotten value and `…` a missing brace. */
export function outline({ root }: ScriptFile): string {
  return entries(root);
}

/** Each finding as its code and the source text it points at. */
export function located({ bytes, findings }: ScriptFile): string[] {
  return findings.map(({ code, start, end }) => `${code} ${Buffer.from(bytes.subarray(start, end)).toString("utf8")}`);
}

function entries(block: Block): string {
  return block.entries.map(entry).join(" ");
}

function entry(node: Entry): string {
  if (node.kind === "value") return value(node.value);
  const key = value(node.key);
  return `${key}${node.implicit ? "~" : node.operator}${node.value === null ? "?" : value(node.value)}`;
}

function value(node: Value): string {
  switch (node.kind) {
    case "scalar":
      return node.quoted ? JSON.stringify(node.text) : node.text;
    case "block":
      return `{${entries(node)}${node.closed ? "}" : "…"}`;
    case "tagged-block":
    default:
      return `${node.tag.text}${value(node.block)}`;
  }
}

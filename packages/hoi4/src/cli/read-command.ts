import path from "node:path";
import { z } from "zod";
import type { JsonObject, JsonValue } from "@holdfast/core";
import type { Mounts } from "./folder-view.ts";

/** One call of an operation, as it was typed. */
export interface HoiCommand {
  /** `hoi4.event_inspect`. */
  readonly operation: string;
  readonly mounts: Mounts;
  /** Files that the view has besides those of the folders. */
  readonly made: Readonly<Record<string, string>>;
  readonly input: JsonObject;
  /** Whether to print the structured result instead of its text. */
  readonly isJson: boolean;
  /** Folder that artifacts are written to; null to leave them. */
  readonly out: string | null;
}

export const USAGE = `Usage: npm run hoi4 -- OPERATION PATH [--ARGUMENT VALUE]... [--json] [--out DIR] [--game DIR] [--dependency DIR]...

  npm run hoi4 -- event-inspect ~/mods/my-mod --mode scan --json

OPERATION is a tool of the pack that reads, written with dashes. PATH is the folder of a mod, or one with a holdfast.json.
--ARGUMENT is an argument of the tool with dashes (--max-depth 3); a value that is JSON is taken as such.
--json prints the structured result. --out writes artifacts to a folder. --game and --dependency add what loads before the mod.`;

/** A sentence when the command line cannot be followed. */
export function readCommand([operation, folder, ...rest]: readonly string[]): HoiCommand | string {
  if (operation === undefined || folder === undefined || operation.startsWith("-") || folder.startsWith("-"))
    return "An operation and the folder of a mod have to be named.";
  const input: Record<string, JsonValue> = {};
  const dependencies: string[] = [];
  const own = { game: null as string | null, out: null as string | null };
  let isJson = false;
  for (let index = 0; index < rest.length; index += 1) {
    const [name, attached] = splitOnce(rest[index] ?? "");
    if (!/^--[a-z][a-z0-9-]*$/u.test(name)) return `"${name}" is no option.`;
    if (name === "--json") {
      isJson = true;
      continue;
    }
    if (attached === undefined) index += 1;
    const value = attached ?? rest[index];
    if (value === undefined) return `${name} needs a value.`;
    if (name === "--dependency") dependencies.push(value);
    else if (name === "--game") own.game = value;
    else if (name === "--out") own.out = value;
    else input[camelCase(name.slice(2))] = readValue(value);
  }
  const { mounts, made } = layOut(path.resolve(folder), { game: own.game, dependencies });
  return { operation: `hoi4.${operation.replace(/^hoi4\./u, "").replaceAll("-", "_")}`, mounts, made, input, isJson, out: own.out };
}

/** Folders named on the command line become a layout of their own, wherever they lie. */
function layOut(
  mod: string,
  { game, dependencies }: { game: string | null; dependencies: readonly string[] },
): Pick<HoiCommand, "mounts" | "made"> {
  if (game === null && dependencies.length === 0) return { mounts: { "": mod }, made: {} };
  const parents = dependencies.map((folder, index) => [`dependency-${index + 1}`, path.resolve(folder)] as const);
  const hoi4 = { mod: "mod", game: game === null ? null : "game", dependencies: parents.map(([name]) => name) };
  return {
    mounts: { mod, ...(game === null ? {} : { game: path.resolve(game) }), ...Object.fromEntries(parents) },
    made: { "holdfast.json": JSON.stringify({ hoi4 }) },
  };
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function camelCase(name: string): string {
  return name.replaceAll(/-(.)/gu, (_, letter: string) => letter.toUpperCase());
}

/** `3`, `true`, `null`, `{…}` and `[…]` are what they look like in JSON; everything else is text. */
function readValue(text: string): JsonValue {
  if (!/^(?:-?\d|true$|false$|null$|[{[])/u.test(text)) return text;
  try {
    return z.json().parse(JSON.parse(text));
  } catch {
    return text;
  }
}

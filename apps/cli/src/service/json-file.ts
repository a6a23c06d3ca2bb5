import { randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import type { ZodType } from "zod";
import { CommandError } from "../command.ts";

/** What a file of ours holds; null when it does not exist. A file that somebody damaged is named, and never repaired by guessing. */
export async function readJsonFile<Value>(file: string, schema: ZodType<Value>): Promise<Value | null> {
  const text = await readText(file);
  if (text === null) return null;
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new CommandError(`the file ${file} is damaged: restore it, or remove it to start afresh`, { cause: parsed.error });
}

export async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Appears whole or not at all, also to somebody who reads at this moment, and to this account alone. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    await writeFile(fresh, text, { mode: 0o600, flag: "wx" });
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Writes a generated mod into a folder, and what is true of it beside: `npm run hoi4:generate -- --events 4000 --seed 1 --out DIR`.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { generateMod } from "./generate-mod.ts";
import type { GenerateOptions } from "./plan-mod.ts";

const USAGE = "Usage: npm run hoi4:generate -- --out DIR [--events 4000] [--seed 1] [--defects COUNT] [--filler LINES]";

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const parsed = readArguments(args);
  if (typeof parsed === "string") return refuse(`${parsed}\n${USAGE}`);
  const { out, options } = parsed;
  if (existsSync(out) && readdirSync(out).length > 0)
    return refuse(`"${out}" is not empty, and a generated mod is written into a folder of its own.`);
  try {
    const { files, truth } = generateMod(options);
    for (const [file, text] of Object.entries(files)) {
      const target = path.join(out, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, text);
    }
    const truthFile = `${path.resolve(out)}.truth.json`;
    await writeFile(truthFile, `${JSON.stringify({ generatedWith: options, ...truth }, null, 1)}\n`);
    const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const written = { out: path.resolve(out), truth: truthFile, files: Object.keys(files).length, bytes, events: truth.events };
    process.stdout.write(`${JSON.stringify(written)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof RangeError) return refuse(error.message);
    throw error;
  }
}

/** A sentence when the arguments cannot be used. */
function readArguments(args: readonly string[]): { out: string; options: GenerateOptions } | string {
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({ args: [...args], options: { out: text, events: text, seed: text, defects: text, filler: text } });
    if (values.out === undefined) return "--out names the folder to write.";
    const { defects, filler } = values;
    return {
      out: values.out,
      options: {
        events: wholeNumber("--events", values.events ?? "4000"),
        seed: wholeNumber("--seed", values.seed ?? "1"),
        ...(defects === undefined ? {} : { defects: wholeNumber("--defects", defects) }),
        ...(filler === undefined ? {} : { filler: wholeNumber("--filler", filler) }),
      },
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,7}$/u.test(text)) throw new TypeError(`${name} is a whole number, not "${text}".`);
  return Number(text);
}

function refuse(message: string): number {
  process.stderr.write(`${message}\n`);
  return 2;
}

import { z } from "zod";
import { parseJson } from "../service/json-file.ts";

const logLine = z.object({ level: z.union([z.number(), z.string()]), msg: z.string().optional(), event: z.string().optional() }).loose();
const worthReading = ["warn", "error", "fatal"];

/** A log line as a sentence when it is a warning or worse; null for all others. */
export function warningOf(line: string): string | null {
  const parsed = logLine.safeParse(parseJson(line));
  if (!parsed.success) return line;
  const { level, msg, event } = parsed.data;
  const isWorthReading = typeof level === "number" ? level >= 40 : worthReading.includes(level);
  return isWorthReading ? [event, msg].filter((part) => part !== undefined).join(": ") : null;
}

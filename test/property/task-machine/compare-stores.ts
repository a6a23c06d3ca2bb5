import fc from "fast-check";
import { z } from "zod";
import { create } from "./client-steps.ts";
import { openPair } from "./pair.ts";
import type { PostgresSide } from "./postgres-side.ts";
import type { Race, Step, TimePasses } from "./step.ts";

const runsSchema = z.coerce.number().int().positive();
/**
 * Sequences of one file in an ordinary run; HOLDFAST_MODEL_RUNS asks for more, HOLDFAST_MODEL_SEED for those of an earlier run. What is no
 * number would be none at all, on which any two stores agree.
 */
const RUNS = runsSchema.parse(process.env["HOLDFAST_MODEL_RUNS"] ?? 250);
const seed = process.env["HOLDFAST_MODEL_SEED"];

export const timeoutMs = 60_000 + RUNS * 1_000;

/**
 * Rejects with the shortest sequence it finds on which the two stores part, or Postgres breaks a rule that always holds, and the seed
 * that leads there.
 */
export async function compareStores(side: PostgresSide, steps: readonly fc.Arbitrary<Step | Race | TimePasses>[]): Promise<void> {
  const property = fc.asyncProperty(create, fc.commands([...steps], { maxCommands: 30, size: "max" }), async (opening, sequence) => {
    const pair = openPair(side);
    try {
      await opening.run(pair);
      await fc.asyncModelRun(() => ({ model: pair, real: pair }), sequence);
      await side.expectInvariants();
    } finally {
      await side.clear();
    }
  });
  await fc.assert(property, { numRuns: RUNS, ...(seed === undefined ? {} : { seed: Number(seed) }) });
}

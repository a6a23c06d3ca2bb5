import { describe, expect, test } from "vitest";
import { blockOf, parseScript, valueOf } from "../clausewitz/index.ts";
import { describeTiming } from "./describe-call.ts";
import { readDelay, readMeanTime } from "./read-timing.ts";

function blockIn(script: string) {
  const block = blockOf(valueOf(parseScript(Buffer.from(`x = { ${script} }`)).root, "x"));
  if (block === null) throw new Error("the script is no block");
  return block;
}

const constants = new Map([["@wait", 7]]);

describe("the delay of a call", () => {
  test.each([
    ["id = a.1", { mode: "immediate" }, "at once"],
    ["id = a.1 days = 0", { mode: "immediate" }, "at once"],
    ["id = a.1 days = 3", { mode: "fixed", days: 3 }, "after 3 days"],
    ["id = a.1 DAYS = 1 hours = 6", { mode: "fixed", days: 1, hours: 6 }, "after 1 day 6 hours"],
    ["id = a.1 years = 1 months = 2", { mode: "fixed", years: 1, months: 2 }, "after 1 year 2 months"],
    ["id = a.1 random_days = 5", { mode: "random", randomDays: 5 }, "after up to 5 days"],
    ["id = a.1 random = 5", { mode: "random", randomHours: 5 }, "after up to 5 hours"],
    ["id = a.1 days = 12 random_days = 10", { mode: "fixed_and_random", days: 12, randomDays: 10 }, "after 12 days and up to 10 days more"],
    ["id = a.1 days = @wait", { mode: "fixed", days: 7 }, "after 7 days"],
    ["id = a.1 days = 1.5", { mode: "fixed", days: 1.5 }, "after 1.5 days"],
  ])("%s", (script, timing, words) => {
    const read = readDelay(blockIn(script), constants);
    expect(read).toEqual(timing);
    expect(describeTiming(read)).toBe(words);
  });

  test.each([
    "days = var:patience",
    "days = patience",
    "days = -1",
    "hours = @unknown",
    "random_days = wait?3",
    `days = ${"9".repeat(400)}`,
  ])("%s is unknown and kept as written", (part) => {
    expect(readDelay(blockIn(`id = a.1 ${part}`), constants)).toEqual({ mode: "unknown", unknown: [part] });
  });

  test("a word that is digits up to its last letter is found to be no number without trying each way to part them", () => {
    const word = `${"1".repeat(200_000)}x`;
    const before = process.cpuUsage();
    expect(readDelay(blockIn(`days = ${word}`), constants)).toEqual({ mode: "unknown", unknown: [`days = ${word}`] });
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test("the known part of an unknown delay is kept", () => {
    expect(readDelay(blockIn("days = var:x hours = 6"), constants)).toEqual({ mode: "unknown", hours: 6, unknown: ["days = var:x"] });
  });
});

test("a mean time keeps its base and what changes it", () => {
  const timing = readMeanTime(blockIn("days = 40 modifier = { factor = 0.5 has_war = yes }"), constants);
  expect(timing).toEqual({ mode: "mean_time_to_happen", days: 40, modifiers: ["factor = 0.5 has_war = yes"] });
  expect(describeTiming(timing)).toBe("when the game tries it, 40 days on average");
});

import type { Timing } from "./event-facts.ts";
import type { GraphEdge } from "./event-graph.ts";

/** When an event comes, in words: `at once`, `after 3 days`, `after 12 days and up to 10 days more`. */
export function describeTiming(timing: Timing): string {
  const fixed = amounts([
    [timing.years, "year"],
    [timing.months, "month"],
    [timing.days, "day"],
    [timing.hours, "hour"],
  ]);
  const random = amounts([
    [timing.randomDays, "day"],
    [timing.randomHours, "hour"],
  ]);
  switch (timing.mode) {
    case "immediate":
      return "at once";
    case "fixed":
      return `after ${fixed}`;
    case "random":
      return `after up to ${random}`;
    case "fixed_and_random":
      return `after ${fixed} and up to ${random} more`;
    case "date":
      return `on ${timing.date ?? "an unknown date"}`;
    case "mean_time_to_happen":
      return fixed === "" ? "when the game tries it" : `when the game tries it, ${fixed} on average`;
    case "unknown":
      return `after a time that only the game knows (${(timing.unknown ?? []).join(", ")})`;
  }
}

/** How likely the edge is once its conditions hold, in words; null when it is certain. */
export function describeChance({
  weight,
  outerWeights = [],
  conditions,
}: Pick<GraphEdge, "weight" | "outerWeights" | "conditions">): string | null {
  const weights = [...outerWeights, ...(weight === null ? [] : [weight])];
  const chances = [
    ...weights.map(({ value, total, expression }) => (total === null || value === null ? `weight ${expression}` : `${value} of ${total}`)),
    ...conditions.filter(({ kind }) => kind === "random_chance").map(({ expression }) => `${expression}%`),
  ];
  return chances.length === 0 ? null : joinChances(chances);
}

/** Each of them has to come true. */
export function joinChances(chances: readonly string[]): string {
  return chances.join(" and ");
}

function amounts(parts: readonly (readonly [number | undefined, string])[]): string {
  return parts
    .flatMap(([amount, unit]) => (amount === undefined || amount === 0 ? [] : [`${amount} ${unit}${amount === 1 ? "" : "s"}`]))
    .join(" ");
}

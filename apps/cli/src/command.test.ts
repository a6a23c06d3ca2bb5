import { expect, test } from "vitest";
import { z } from "zod";
import { defineCommand, readOption, UsageError, type Command, type Surroundings } from "./command.ts";
import { readCliConfig } from "./config.ts";

const seen: unknown[] = [];
const bake: Command = defineCommand({
  name: "bake",
  summary: "Bakes a loaf",
  positionals: "FLOUR...",
  options: {
    heat: { type: "string", value: "DEGREES", default: "220", help: "how hot" },
    seed: { type: "string", value: "KIND", multiple: true, help: "what goes on top" },
    quiet: { type: "boolean", help: "say nothing" },
  },
  run: async ({ values, positionals }) => {
    seen.push({ ...values, positionals });
    return 3;
  },
});
const clean = defineCommand({ name: "clean", summary: "Cleans the oven", options: {}, run: async () => 0 });

const surroundings: Surroundings = {
  config: readCliConfig({}),
  terminal: { out: () => undefined, note: () => undefined, redraw: () => undefined, isInteractive: false, width: 100 },
};

test("a command gets its options with their defaults, and its exit code is the command's", async () => {
  const code = await bake.run(["rye", "--seed", "poppy", "--seed=flax", "wheat", "--quiet"], surroundings);
  expect(code).toBe(3);
  expect(seen).toEqual([{ heat: "220", seed: ["poppy", "flax"], quiet: true, positionals: ["rye", "wheat"] }]);
});

test.for([
  ["an unknown option", ["--cold"], "Unknown option '--cold'"],
  ["an option without its value", ["--heat"], "Option '--heat <value>' argument missing"],
  ["a value where none belongs", ["--quiet=yes"], "Option '--quiet' does not take an argument"],
] as const)("%s is refused in one sentence", async ([, args, message]) => {
  const error: unknown = await bake.run(args, surroundings).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ message, exitCode: 2 });
});

test("an argument that a command has no use for is refused", async () => {
  await expect(clean.run(["twice"], surroundings)).rejects.toMatchObject({ message: 'unexpected argument "twice"', exitCode: 2 });
});

test("the help names every option, its value and its default", () => {
  expect(bake.help).toBe(
    [
      "Usage: holdfast bake FLOUR... [OPTIONS]",
      "",
      "Bakes a loaf.",
      "",
      "Options:",
      "  --heat DEGREES  how hot (default 220)",
      "  --seed KIND     what goes on top",
      "  --quiet         say nothing",
    ].join("\n"),
  );
  expect(clean.help).toBe("Usage: holdfast clean\n\nCleans the oven.");
});

test("a value that does not fit is refused with the name of its option", () => {
  expect(() => readOption("--heat", z.string().regex(/^\d+$/u, "expected degrees"), "hot")).toThrow(
    new UsageError("--heat: expected degrees"),
  );
});

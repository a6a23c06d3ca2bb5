import { expect, test } from "vitest";
import { z } from "zod";
import { ConfigError, integer, list, packs, parseVariables, postgresUrl } from "./variables.ts";

const fromJson = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.array(z.string()))
  .default([]);
const schema = z.object({
  JSON: fromJson,
  URL: postgresUrl,
  COUNT: integer(1, 5).default(2),
  NAMES: list.default([]),
  PACKS: packs.default(["own"]),
});
const URL = "postgres://user:hidden@host/db";

test("an empty variable counts as none", () => {
  expect(parseVariables(schema, { URL, COUNT: "", NAMES: " a, ,b," })).toEqual({
    JSON: [],
    URL,
    COUNT: 2,
    NAMES: ["a", "b"],
    PACKS: ["own"],
  });
});

test.each([
  [{}, "URL is required"],
  [{ URL: "mysql://user:hidden@host/db" }, "URL is not usable: expected postgres://user:password@host:port/database"],
  [{ URL, COUNT: "0" }, "COUNT is not usable: expected at least 1"],
  [{ URL, COUNT: "6" }, "COUNT is not usable: expected at most 5"],
  [{ URL, COUNT: "2.5" }, "COUNT is not usable: expected a whole number from 1 to 5"],
  [{ URL, JSON: "{}" }, "JSON is not usable: Invalid input: expected array, received object"],
  [{ URL, PACKS: "," }, "PACKS is not usable: expected at least one pack"],
])("%j is refused with a line that names the variable and never its value", (env, line) => {
  const read = () => parseVariables(schema, env);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(line);
  expect(read).not.toThrow("hidden");
});

test("all complaints come in one line", () => {
  expect(() => parseVariables(schema, { COUNT: "x" })).toThrow("URL is required; COUNT is not usable: expected a whole number from 1 to 5");
});

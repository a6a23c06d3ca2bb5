import { expect, test } from "vitest";
import { matchUriTemplate, variablesOf } from "./resource.ts";

test.for<[string, string, Record<string, string> | null]>([
  ["test://template/{id}/data", "test://template/123/data", { id: "123" }],
  ["test://template/{id}/data", "test://template/a%2Fb%20c/data", { id: "a/b c" }],
  ["test://{first}.{second}", "test://one.two", { first: "one", second: "two" }],
  ["test://template/{id}/data", "test://template//data", null],
  ["test://template/{id}/data", "test://template/1/2/data", null],
  ["test://template/{id}/data", "test://template/1/data?x", null],
  ["test://template/{id}/data", "xtest://template/1/data", null],
  ["test://a.b/{id}", "test://aXb/1", null],
  ["test://template/{id}", "test://template/%ff", null],
  ["test://template/{id}", "test://template/%", null],
])("the template %s makes of %s the variables %j", ([template, uri, variables]) => {
  expect(matchUriTemplate(template, uri)).toEqual(variables);
});

test("a template names its variables in order", () => {
  expect(variablesOf("test://{b}/x/{a}")).toEqual(["b", "a"]);
});

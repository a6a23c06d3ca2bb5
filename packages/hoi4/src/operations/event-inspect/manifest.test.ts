import { expect, test } from "vitest";
import { registerHandlers } from "@holdfast/core";
import { z } from "zod";
import { handlers } from "../../handlers.ts";
import { pack } from "../../manifest.ts";
import { eventInspect } from "./manifest.ts";

test("the pack lists what it handles", () => {
  expect([...registerHandlers(pack, handlers).keys()]).toEqual(["hoi4.event_inspect", "hoi4.focus_rewrite"]);
});

test("the operation reads, may run as a task, and needs the pack's read scope", () => {
  expect(eventInspect).toMatchObject({ name: "hoi4.event_inspect", version: 2, effect: "read", tasks: "optional", scopes: ["hoi4:read"] });
});

test("called without arguments it scans the current workspace", () => {
  expect(eventInspect.input.parse({})).toEqual({ workspaceId: "current", mode: "scan", refresh: false, proposedSources: [] });
});

test.each([
  [{ modus: "scan" }, "modus"],
  [{ mode: "lint" }, "mode"],
  [{ workspaceId: "Not An Id" }, "workspaceId"],
  [{ refresh: "yes" }, "refresh"],
])("%j is refused with the name of what is wrong", (input, name) => {
  const parsed = eventInspect.input.safeParse(input);
  expect(parsed.success).toBe(false);
  expect(JSON.stringify(parsed.error?.issues)).toContain(name);
});

test("both schemas can be shown to clients as JSON Schema of an object", () => {
  expect(z.toJSONSchema(eventInspect.input, { io: "input" })).toMatchObject({ type: "object", additionalProperties: false });
  expect(z.toJSONSchema(eventInspect.output ?? z.never(), { io: "output" })).toMatchObject({ type: "object" });
});

import { expect, test } from "vitest";
import { inspectEvents } from "../../testing/inspect-events.ts";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";

function inspect(files: Record<string, string>) {
  return inspectEvents(memoryWorkspace(files));
}

test("lists that are too long are cut with a count, in rows and in the result", async () => {
  const calls = Array.from({ length: 40 }, (_, index) => `country_event = b.${index}`).join(" ");
  const events = Array.from(
    { length: 300 },
    (_, index) => `country_event = { id = a.${index} is_triggered_only = yes hidden = yes immediate = { ${index === 0 ? calls : ""} } }`,
  );
  const { output, result } = await inspect({ "events/a.txt": `add_namespace = a\n${events.join("\n")}` });
  const data = output.data;
  expect(data?.events[0]).toMatchObject({ calls: { length: 16 }, omitted: { options: 0, callers: 0, calls: 24 } });
  expect(data?.counts.events).toBe(300);
  expect((data?.events.length ?? 0) + (data?.eventsOmitted ?? 0)).toBe(300);
  expect(data?.eventsOmitted).toBeGreaterThan(0);
  expect(output.diagnostics.at(-1)?.code).toBe("MCP_INLINE_COLLECTIONS_TRUNCATED");
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(128 * 1024);
});

test("a name of absurd length fills neither the row nor the list of diagnostics", async () => {
  const long = `a.${"9".repeat(200_000)}`;
  const event = `country_event = { id = ${long} is_triggered_only = yes hidden = yes immediate = { country_event = ${long}1 } }`;
  const { output, graph } = await inspect({
    "events/a.txt": `add_namespace = a ${event} country_event = { id = a.1 hidden = yes is_triggered_only = yes }`,
  });
  expect(output.data?.events.map(({ id }) => id.length)).toEqual([300, 3]);
  expect(output.diagnostics.map(({ code }) => code)).toContain("EVENT_NEVER_FIRED");
  expect(graph().nodes.some(({ id }) => id === `event:${long}`)).toBe(true);
});

test("a result stays within its size when every name is as long and as costly to write as names can be", async () => {
  const costly = (length: number) => "\u0001".repeat(length);
  const calls = Array.from({ length: 40 }, (_, index) => `country_event = "${costly(400)}${index}"`).join(" ");
  const events = Array.from(
    { length: 40 },
    (_, index) =>
      `country_event = { id = "${costly(400)}.${index}" title = "${costly(400)}" ${calls} option = { name = "${costly(400)}" ${calls} } }`,
  );
  const folder = `events/${costly(240)}/${costly(240)}/${costly(240)}`;
  const files = Object.fromEntries(
    Array.from({ length: 70 }, (_, index) => [`${folder}/${index}.txt`, events.slice(index, index + 1).join("")]),
  );
  const { result, output, text } = await inspect({
    "descriptor.mod": `name = "${costly(10_000)}" version = "${costly(10_000)}" supported_version = "${costly(10_000)}"`,
    ...files,
  });
  expect(output.data?.mod.name).toHaveLength(300);
  expect(text).toContain("40 events with 40 options");
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(128 * 1024);
});

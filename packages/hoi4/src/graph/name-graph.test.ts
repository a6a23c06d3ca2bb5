import { describe, expect, test } from "vitest";
import { scanTexts } from "../testing/scan-texts.ts";

const FIRST =
  "country_event = { id = a.1 is_triggered_only = yes immediate = { country_event = a.2 if = { limit = { tag = AAA } country_event = a.2 } country_event = a.2 } }\n";
const SECOND = "country_event = { id = a.2 is_triggered_only = yes title = t option = { name = x } }\n";

describe("the identity of a graph", () => {
  test("moving definitions to other lines and files changes locations and nothing else", async () => {
    const before = await scanTexts({ "events/a.txt": `add_namespace = a\n${FIRST}${SECOND}` });
    const after = await scanTexts({ "events/a.txt": `# later\n\nadd_namespace = a\n\n${SECOND}`, "events/b.txt": FIRST });
    expect(after.graphHash).toBe(before.graphHash);
    expect(after.graph.edges.map(({ id }) => id)).toEqual(before.graph.edges.map(({ id }) => id));
    expect(after.graph.nodes.map(({ id }) => id)).toEqual(before.graph.nodes.map(({ id }) => id));
    expect(after.revision).not.toBe(before.revision);
  });

  test("what an edge says is part of its name", async () => {
    const at = async (call: string) => {
      const scan = await scanTexts({
        "events/a.txt": `add_namespace = a country_event = { id = a.1 hidden = yes is_triggered_only = yes immediate = { ${call} } }`,
      });
      return scan.graphHash;
    };
    const hashes = await Promise.all([
      at("country_event = a.2"),
      at("country_event = a.3"),
      at("country_event = { id = a.2 days = 1 }"),
      at("news_event = a.2"),
      at("hidden_effect = { country_event = a.2 }"),
      at("FROM = { country_event = a.2 }"),
      at("if = { limit = { tag = AAA } country_event = a.2 }"),
    ]);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("equal edges are told apart by a count", async () => {
    const { graph } = await scanTexts({ "events/a.txt": `add_namespace = a\n${FIRST}${SECOND}` });
    const ids = graph.edges.filter(({ from }) => from === "event:a.1").map(({ id }) => id);
    const [plain = ""] = ids.filter((id) => ids.includes(`${id}~2`));
    expect(plain).toMatch(/^[0-9a-f]{16}$/u);
    expect(ids).toHaveLength(3);
  });
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineForegroundTool } from "./foreground-tool.ts";
import { loadHandlers, loadManifest } from "./load-pack.ts";
import { defineOperation, handle } from "./operation.ts";
import { definePack, registerHandlers, registerPacks } from "./pack.ts";
import { toolResult } from "./tool-result.ts";

const operation = (name: string) =>
  defineOperation({ name, version: 1, title: name, description: name, effect: "read", input: z.object({ workspaceId: z.string() }) });
const handled = (name: string) => handle(operation(name), () => Promise.resolve(toolResult({ text: name })));

describe("packs", () => {
  it("refuse two operations of one name, within a pack and across packs", () => {
    expect(() => definePack({ name: "demo", operations: [operation("demo.a"), operation("demo.a")] })).toThrow('defines "demo.a" twice');
    const one = definePack({ name: "one", operations: [operation("shared")] });
    const two = definePack({ name: "two", operations: [operation("shared")] });
    expect(() => registerPacks([one, two])).toThrow('two packs define the operation "shared"');
  });

  it("refuse a second prompt, resource or foreground tool of one name", () => {
    const tool = defineForegroundTool({
      name: "demo.a",
      title: "",
      description: "",
      input: z.object({}),
      run: () => toolResult({ text: "" }),
    });
    const prompt = { name: "p", title: "", description: "", arguments: [], messages: () => [] };
    const resource = { uri: "test://r", name: "r", title: "", description: "", mimeType: "text/plain", read: () => ({ text: "" }) };
    expect(() => definePack({ name: "demo", operations: [operation("demo.a")], foregroundTools: [tool] })).toThrow('"demo.a" twice');
    expect(() => definePack({ name: "demo", operations: [], prompts: [prompt, prompt] })).toThrow('"p" twice');
    expect(() => definePack({ name: "demo", operations: [], resources: [resource, resource] })).toThrow('"test://r" twice');
  });

  it("refuse a resource template that stands for one resource only", () => {
    const template = { uriTemplate: "test://r", name: "r", title: "", description: "", mimeType: "text/plain", read: () => null };
    expect(() => definePack({ name: "demo", operations: [], resourceTemplates: [template] })).toThrow("no variable");
  });

  it("refuse an operation name that MCP clients would not accept", () => {
    expect(() => definePack({ name: "demo", operations: [operation("demo a")] })).toThrow('"demo a"');
  });

  it("refuse a pool that could not be a queue", () => {
    expect(() => definePack({ name: "demo", operations: [{ ...operation("demo.a"), pool: "Heavy work" }] })).toThrow(
      'the pool "Heavy work"',
    );
  });

  it("need a handler for each listed operation and no other", () => {
    const pack = definePack({ name: "demo", operations: [operation("demo.a")] });
    expect(() => registerHandlers(pack, [])).toThrow('no handler for "demo.a"');
    expect(() => registerHandlers(pack, [handled("demo.a"), handled("demo.b")])).toThrow('handles "demo.b"');
    expect([...registerHandlers(pack, [handled("demo.a")]).keys()]).toEqual(["demo.a"]);
  });
});

describe("loading a pack", () => {
  const pack = definePack({ name: "demo", operations: [operation("demo.a")] });
  const modules: Record<string, unknown> = {
    "@team/pack/manifest": { pack },
    "@team/pack/handlers": { handlers: [handled("demo.a")] },
    "file:///srv/my%20pack/manifest.ts": { pack },
    "@team/empty/manifest": {},
  };
  const importModule = (specifier: string) =>
    specifier in modules ? Promise.resolve(modules[specifier]) : Promise.reject(new Error(`no module ${specifier}`));

  it("finds both halves of a package by its exports", async () => {
    await expect(loadManifest("@team/pack", importModule)).resolves.toEqual(pack);
    const handlers = await loadHandlers("@team/pack", importModule);
    expect([...handlers.keys()]).toEqual(["demo.a"]);
  });

  it("finds a folder by its absolute path, spaces included", async () => {
    await expect(loadManifest("/srv/my pack", importModule)).resolves.toEqual(pack);
  });

  it("says which module is no pack", async () => {
    await expect(loadManifest("@team/empty", importModule)).rejects.toThrow('"@team/empty" exports no operation pack');
  });
});

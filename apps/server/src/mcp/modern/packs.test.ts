import { expect, test } from "vitest";
import { definePack } from "@holdfast/core";
import { toolCall, type ModernRequest } from "../../../../../test/support/mcp-request.ts";
import { createTestNode } from "../../testing/test-node.ts";
import { askText, sayText, testPack } from "../../testing/test-pack.ts";

const token = "alice";
const getPrompt = (params: Record<string, unknown>, extra: Partial<ModernRequest> = {}): ModernRequest => ({
  method: "prompts/get",
  params,
  token,
  capabilities: { elicitation: {} },
  ...extra,
});
const complete = (params: Record<string, unknown>): ModernRequest => ({ method: "completion/complete", params, token });

test("prompts are listed with their arguments, and without the functions behind them", async () => {
  const { result } = await createTestNode().call({ method: "prompts/list", token });
  expect(result?.["prompts"]).toEqual([
    {
      name: "greeting",
      title: "Greeting",
      description: "Greets somebody.",
      arguments: [
        { name: "whom", description: "Whom to greet.", required: true },
        { name: "tone", description: "In what tone.", required: false },
        { name: "closing", description: "How to end.", required: false },
      ],
    },
    { name: "asking", title: "Asking", description: "Asks first.", arguments: [] },
  ]);
});

test("a prompt is filled in with its arguments", async () => {
  const { result } = await createTestNode().call(getPrompt({ name: "greeting", arguments: { whom: "Ada" } }));
  expect(result).toMatchObject({
    resultType: "complete",
    description: "Greets somebody.",
    messages: [{ role: "user", content: { type: "text", text: "Greet Ada." } }],
  });
});

test.for<[Record<string, unknown>, string]>([
  [{ name: "nothing" }, "name"],
  [{ name: "greeting" }, "arguments.whom"],
  [{ name: "greeting", arguments: { whom: "Ada", wohm: "Eve" } }, "arguments.wohm"],
  [{ name: "greeting", arguments: { whom: 7 } }, "arguments.whom"],
  [{ name: "greeting", arguments: [] }, "arguments"],
])("a prompt asked for with %j is refused by the name of the member", async ([params, path]) => {
  expect(await createTestNode().call(getPrompt(params))).toMatchObject({
    status: 200,
    error: { code: -32_602, data: { issues: [{ path }] } },
  });
});

test("a prompt may ask first, round by round, and its state is good for it alone", async () => {
  const node = createTestNode();
  const first = await node.call(getPrompt({ name: "asking" }));
  expect(first.result).toMatchObject({ resultType: "input_required", inputRequests: { name: askText("Your name?") } });
  const requestState = first.result?.["requestState"];
  const second = await node.call(getPrompt({ name: "asking", inputResponses: { name: sayText("Ada") }, requestState }));
  expect(second.result).toMatchObject({ resultType: "input_required", inputRequests: { colour: askText("A colour?") } });
  const answers = { inputResponses: { colour: sayText("blue") }, requestState: second.result?.["requestState"] };
  const third = await node.call(getPrompt({ name: "asking", ...answers }));
  expect(third.result).toMatchObject({
    messages: [{ content: { text: JSON.stringify({ name: sayText("Ada"), colour: sayText("blue") }) } }],
  });
  expect((await node.call(getPrompt({ name: "asking", ...answers }, { token: "bob" }))).error).toMatchObject({ code: -32_602 });
  const asTool = {
    method: "tools/call",
    params: { name: "test.ask_first", arguments: {}, ...answers },
    token,
    capabilities: { elicitation: {} },
  };
  expect((await node.call(asTool)).error).toMatchObject({ code: -32_602 });
  expect((await node.call(getPrompt({ name: "asking" }, { capabilities: {} }))).error).toMatchObject({ code: -32_021 });
});

test("arguments are completed from what has been begun and from what has been chosen", async () => {
  const node = createTestNode();
  const ref = { type: "ref/prompt", name: "greeting" };
  const names = await node.call(complete({ ref, argument: { name: "whom", value: "name-1" } }));
  expect(names.result?.["completion"]).toMatchObject({ total: 31, hasMore: false });
  const all = await node.call(complete({ ref, argument: { name: "whom", value: "" } }));
  expect(all.result?.["completion"]).toMatchObject({ total: 120, hasMore: true });
  expect(all.result).toHaveProperty("completion.values.length", 100);
  const tone = complete({ ref, argument: { name: "tone", value: "kind" }, context: { arguments: { whom: "Ada" } } });
  expect((await node.call(tone)).result).toMatchObject({ completion: { values: ["kind for Ada"] } });
  const plain = complete({ ref, argument: { name: "closing", value: "" } });
  expect((await node.call(plain)).result).toMatchObject({ completion: { values: [], total: 0, hasMore: false } });
  const side = complete({ ref: { type: "ref/resource", uri: "test://square/{side}" }, argument: { name: "side", value: "1" } });
  expect((await node.call(side)).result).toMatchObject({ completion: { values: ["10"] } });
});

test.for<[Record<string, unknown>]>([
  [{ ref: { type: "ref/prompt", name: "nothing" }, argument: { name: "whom", value: "" } }],
  [{ ref: { type: "ref/prompt", name: "greeting" }, argument: { name: "nothing", value: "" } }],
  [{ ref: { type: "ref/resource", uri: "test://nothing/{x}" }, argument: { name: "x", value: "" } }],
  [{ ref: { type: "ref/resource", uri: "test://square/{side}" }, argument: { name: "x", value: "" } }],
  [{ ref: { type: "ref/tool", name: "greeting" }, argument: { name: "whom", value: "" } }],
  [{ ref: { type: "ref/prompt", name: "greeting" }, argument: { name: "whom" } }],
  [{ argument: { name: "whom", value: "" } }],
])("there is nothing to complete in %j", async ([params]) => {
  expect(await createTestNode().call(complete(params))).toMatchObject({ status: 200, error: { code: -32_602 } });
});

test("resources of packs are listed beside the template of artifacts, and read", async () => {
  const node = createTestNode();
  expect((await node.call({ method: "resources/list", token })).result).toMatchObject({
    resources: [{ uri: "test://text", name: "text", mimeType: "text/plain" }, { uri: "test://bytes" }],
  });
  const templates = (await node.call({ method: "resources/templates/list", token })).result?.["resourceTemplates"];
  expect(templates).toMatchObject([{ name: "artifact" }, { uriTemplate: "test://square/{side}" }]);
  const read = async (uri: string): Promise<unknown> =>
    (await node.call({ method: "resources/read", params: { uri }, token })).result?.["contents"];
  expect(await read("test://text")).toEqual([{ uri: "test://text", mimeType: "text/plain", text: "fixed" }]);
  expect(await read("test://bytes")).toEqual([{ uri: "test://bytes", mimeType: "application/octet-stream", blob: "/wA=" }]);
  expect(await read("test://square/12")).toEqual([{ uri: "test://square/12", mimeType: "text/plain", text: "144" }]);
});

test.for(["test://nothing", "test://square/x", "test://square/", "test://square/1/2", "", "holdfast://nothing"])(
  "no resource is %j, and it is named",
  async (uri) => {
    const answer = await createTestNode().call({ method: "resources/read", params: { uri }, token });
    expect(answer).toMatchObject({ status: 200, error: { code: -32_602, data: { uri } } });
  },
);

test("a foreground tool is answered by the node, and what it announces is heard", async () => {
  const node = createTestNode();
  const heard: string[] = [];
  using _subscription = node.lists.subscribe((list) => heard.push(list));
  const answer = await node.call(toolCall("test.announce", { list: "prompts" }, { token, tasks: true }));
  expect(answer.result).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "announced" }] });
  expect(heard).toEqual(["prompts"]);
  expect((await node.call(toolCall("test.announce", { list: "x" }, { token }))).error).toMatchObject({
    data: { issues: [{ path: "list" }] },
  });
  expect(node.writes).toEqual([]);
});

test("packs that share a name keep a node from starting", () => {
  const [prompt] = testPack.prompts;
  const [resource] = testPack.resources;
  const [tool] = testPack.foregroundTools;
  if (prompt === undefined || resource === undefined || tool === undefined) throw new Error("the test pack has all of them");
  const twice = (part: Partial<Parameters<typeof definePack>[0]>) => () =>
    createTestNode({ packs: ["one", "two"].map((name) => definePack({ name, operations: [], ...part })) });
  expect(twice({ prompts: [prompt] })).toThrow('the prompt "greeting"');
  expect(twice({ resources: [resource] })).toThrow("one URI");
  expect(twice({ foregroundTools: [tool] })).toThrow('"test.announce"');
  const [operation] = testPack.operations;
  if (operation === undefined) throw new Error("the test pack has operations");
  const shadow = definePack({ name: "one", operations: [{ ...operation, name: "two.job_inspect" }] });
  expect(() => createTestNode({ packs: [shadow, definePack({ name: "two", operations: [] })] })).toThrow('"two.job_inspect"');
});

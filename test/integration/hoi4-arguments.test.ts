import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { toolCall } from "../support/mcp-request.ts";
import { createServerWorld, type ServerWorld, type TestServer } from "../support/server-world.ts";

let world: ServerWorld;
let node: TestServer;
let token: string;

beforeAll(async () => {
  world = await createServerWorld();
  node = await world.startNode({ HOLDFAST_PACKS: "@holdfast/hoi4" });
  token = await world.token({ scopes: ["hoi4:read", "hoi4:write"] });
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const toolsSchema = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      inputSchema: z.looseObject({ properties: z.record(z.string(), z.unknown()), additionalProperties: z.literal(false) }),
    }),
  ),
});

/** Names of members, however deep, that a schema lets callers send. */
function membersOf(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries<unknown>({ ...schema }).flatMap(([keyword, value]) =>
    keyword === "properties" && typeof value === "object" && value !== null
      ? [...Object.keys(value), ...Object.values(value).flatMap(membersOf)]
      : membersOf(value),
  );
}

/** A rewrite as it is accepted, so that a refusal is about what was added to it. */
const REWRITE = {
  relativePath: "common/national_focus/tree.txt",
  treeId: "tree",
  expectedSourceHash: "0".repeat(64),
  changes: [{ focusId: "first", x: 1 }],
};

test("no tool of the pack has an argument for a transaction or a plan, and none takes arguments that it does not list", async () => {
  const { tools } = toolsSchema.parse((await node.call({ method: "tools/list", token })).result);
  const members = tools.flatMap(({ name, inputSchema }) => membersOf(inputSchema).map((member) => `${name} ${member}`));
  expect(members).toContain("hoi4.focus_rewrite relativePath");
  expect(members.filter((member) => /transaction|plan|journal|receipt|token/iu.test(member))).toEqual([]);
});

test.for(["transactionId", "planHash", "plan", "journal"])(
  "a rewrite that names its %s is refused and nothing is created",
  async (member) => {
    const answer = await node.call(
      toolCall("hoi4.focus_rewrite", { ...REWRITE, requestKey: "named", [member]: "1" }, { token, tasks: true }),
    );
    expect(answer.error).toMatchObject({ code: -32_602, data: { issues: [{ path: member }] } });
    expect(
      await world.query("select count(*)::int as tasks, (select count(*)::int from holdfast.receipt) as receipts from holdfast.task"),
    ).toEqual([{ tasks: 0, receipts: 0 }]);
  },
);

test("the same rewrite without it is admitted", async () => {
  const answer = await node.call(toolCall("hoi4.focus_rewrite", { ...REWRITE, requestKey: "unnamed" }, { token, tasks: true }));
  expect(answer.result).toMatchObject({ resultType: "task", status: "working" });
});

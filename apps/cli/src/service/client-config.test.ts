import { expect, test } from "vitest";
import { clientConfigurations, describeClients } from "./client-config.ts";

const url = "http://127.0.0.1:8400/mcp";

function blockFor(client: string, token: string | null): string {
  return clientConfigurations({ url, token }).find((block) => block.client === client)?.text ?? "";
}

test("VS Code asks for the token instead of keeping it in the file", () => {
  expect(JSON.parse(blockFor("VS Code", null))).toEqual({
    inputs: [{ type: "promptString", id: "holdfast-token", description: "Holdfast access token", password: true }],
    servers: { holdfast: { type: "http", url, headers: { Authorization: "Bearer ${input:holdfast-token}" } } },
  });
});

test("Cursor takes the token from its environment", () => {
  expect(JSON.parse(blockFor("Cursor", null))).toEqual({
    mcpServers: { holdfast: { url, headers: { Authorization: "Bearer ${env:HOLDFAST_TOKEN}" } } },
  });
});

test("commands for a terminal take the token from the shell, and the Inspector is told the revision", () => {
  expect(blockFor("Claude Code", null)).toBe(
    `claude mcp add --transport http holdfast ${url} --header "Authorization: Bearer $HOLDFAST_TOKEN"`,
  );
  expect(blockFor("MCP Inspector", null)).toContain("--protocol-era modern");
});

test("a token that is given stands in every block, and no block asks for another one", () => {
  for (const { text } of clientConfigurations({ url, token: "abc.def.ghi" })) {
    expect(text).toContain("Bearer abc.def.ghi");
    expect(text).not.toMatch(/HOLDFAST_TOKEN|promptString/u);
  }
});

test("on a terminal each block stands under the name of its client", () => {
  const lines = describeClients(clientConfigurations({ url, token: null }));
  expect(lines.filter((line) => /^\S/u.test(line))).toEqual([
    "Connect a client that speaks MCP revision 2026-07-28:",
    "Claude Code, in a terminal:",
    "VS Code, in .vscode/mcp.json:",
    "Cursor, in .cursor/mcp.json:",
    "MCP Inspector, in a terminal:",
  ]);
});

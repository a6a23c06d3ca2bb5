/** What a person pastes to connect an MCP client; every block stands alone. */
export interface ClientConfiguration {
  readonly client: string;
  readonly where: string;
  readonly text: string;
}

/** `token` is what the blocks carry: a token itself, or the reference to a variable, in each client's own spelling. */
export function clientConfigurations({ url, token }: { url: string; token: string | null }): readonly ClientConfiguration[] {
  const header = (reference: string): string => `Bearer ${token ?? reference}`;
  return [
    {
      client: "Claude Code",
      where: "in a terminal",
      text: `claude mcp add --transport http holdfast ${url} --header "Authorization: ${header("$HOLDFAST_TOKEN")}"`,
    },
    {
      client: "VS Code",
      where: "in .vscode/mcp.json",
      text: pretty({
        ...(token === null
          ? { inputs: [{ type: "promptString", id: "holdfast-token", description: "Holdfast access token", password: true }] }
          : {}),
        servers: { holdfast: { type: "http", url, headers: { Authorization: header("${input:holdfast-token}") } } },
      }),
    },
    {
      client: "Cursor",
      where: "in .cursor/mcp.json",
      text: pretty({ mcpServers: { holdfast: { url, headers: { Authorization: header("${env:HOLDFAST_TOKEN}") } } } }),
    },
    {
      client: "MCP Inspector",
      where: "in a terminal",
      text: [
        "npx @modelcontextprotocol/inspector@latest --cli --transport http --protocol-era modern",
        `  --server-url ${url} --header "Authorization: ${header("$HOLDFAST_TOKEN")}" --method tools/list`,
      ].join(" \\\n"),
    },
  ];
}

/** The blocks as lines for a terminal. */
export function describeClients(configurations: readonly ClientConfiguration[]): readonly string[] {
  const blocks = configurations.flatMap(({ client, where, text }) => [
    `${client}, ${where}:`,
    "",
    ...text.split("\n").map((line) => `  ${line}`),
    "",
  ]);
  return ["Connect a client that speaks MCP revision 2026-07-28:", "", ...blocks];
}

/** What a new service needs before a client can work with it, as lines for a terminal. */
export function firstSteps({ isOwnIssuer }: { isOwnIssuer: boolean }): readonly string[] {
  return [
    "Give it a folder to work in, and yourself a token:",
    "",
    "  npm run holdfast -- workspace add current --path /path/to/your/mod",
    ...(isOwnIssuer ? ["  export HOLDFAST_TOKEN=$(npm run -s holdfast -- token --ttl 8h)"] : []),
    "",
  ];
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface SdkClient {
  listTools(): Promise<readonly string[]>;
  /** An ordinary call: the tool's result, whatever happened behind it. */
  callTool(name: string, input: Record<string, unknown>): Promise<{ isError?: boolean; structuredContent?: unknown; content: unknown }>;
  close(): Promise<void>;
}

/** The official client, as an application uses it. */
export async function connectSdkClient(url: string, token: string): Promise<SdkClient> {
  const client = new Client({ name: "holdfast-tests", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, input) => (await client.callTool({ name, arguments: input })) as Awaited<ReturnType<SdkClient["callTool"]>>,
    close: async () => await client.close(),
  };
}

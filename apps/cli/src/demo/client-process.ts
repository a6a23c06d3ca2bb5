// An MCP client in a process of its own: it does what its argument says, reports on stdout, and ends.
import { setTimeout as delay } from "node:timers/promises";
import { readClientToken } from "../config.ts";
import { endWithParent } from "../launcher/child.ts";
import { clientOrderSchema, type ArtifactSample, type ClientOrder, type ClientReport } from "./client-messages.ts";
import { callAsTask, getTask, linkSchema, fractionOf, readResource, type McpServer, type Task, type ToolResult } from "./mcp-client.ts";

const sampleBytes = 120;

endWithParent();
try {
  const order = clientOrderSchema.parse(JSON.parse(process.argv[2] ?? ""));
  await obey(order, { url: order.url, token: readClientToken() });
} catch (error) {
  console.error(error instanceof Error ? describe(error) : String(error));
  process.exitCode = 1;
}

async function obey(order: ClientOrder, server: McpServer): Promise<void> {
  switch (order.kind) {
    case "start":
      report({ kind: "handle", taskId: await callAsTask(server, order.tool, order.input) });
      break;
    case "follow":
      await follow(server, order);
      break;
  }
}

async function follow(server: McpServer, { taskId, deadlineMs }: { taskId: string; deadlineMs: number }): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const task = await getTask(server, taskId);
    report({ kind: "status", status: task.status, message: task.statusMessage ?? null, fraction: fractionOf(task) });
    if (task.status !== "working") {
      const result = resultOf(task);
      report({ kind: "result", result, artifact: await sampleArtifact(server, result) });
      return;
    }
    if (Date.now() > deadline) throw new Error(`the task was still not finished after ${Math.round(deadlineMs / 1000)} s`);
    await delay(task.pollIntervalMs ?? 1000);
  }
}

function resultOf(task: Task): ToolResult {
  switch (task.status) {
    case "completed":
      return task.result;
    case "failed":
      throw new Error(`the task failed: ${task.error.message}`);
    case "cancelled":
    case "input_required":
    case "working":
      throw new Error(`the task is ${task.status} and has no result`);
  }
}

/** The first artifact's size and first bytes, read through resources/read like any other client would. */
async function sampleArtifact(server: McpServer, { content }: ToolResult): Promise<ArtifactSample | null> {
  const link = content.map((block) => linkSchema.safeParse(block)).find(({ success }) => success)?.data;
  if (link === undefined) return null;
  const beginning = await readResource(server, `${link.uri}?offset=0&length=${sampleBytes}`);
  return { uri: link.uri, name: link.name, size: link.size ?? beginning.length, beginning: beginning.toString("utf8") };
}

function report(message: ClientReport): void {
  console.log(JSON.stringify(message));
}

/** `fetch` says what went wrong in the cause of its error. */
function describe({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

import type { ForegroundTool, ListName, Pack } from "@holdfast/core";
import { jobTools, type JobToolsOptions } from "./job-tools.ts";
import type { NodeTool } from "./node-tool.ts";
import { objectSchema } from "./object-schema.ts";
import { parseArguments } from "./parse-arguments.ts";
import { annotationsOf } from "./tool-catalog.ts";

export interface NodeToolsOptions extends JobToolsOptions {
  readonly packs: readonly Pack[];
  /** Tells those who listen, on every node, that a list has changed. */
  readonly announce: (list: ListName) => void;
}

/** The node's own tools by name: what the packs bring, and the controls of each pack's jobs. Throws when two share a name. */
export function createNodeTools(options: NodeToolsOptions): ReadonlyMap<string, NodeTool> {
  const tools = options.packs.flatMap((pack) => [
    ...pack.foregroundTools.map((tool) => packTool(tool, options.announce)),
    ...jobTools(pack.name, options),
  ]);
  const operations = options.packs.flatMap((pack) => pack.operations);
  const byName = new Map<string, NodeTool>();
  for (const tool of tools) {
    const { name } = tool.description;
    if (byName.has(name) || operations.some((operation) => operation.name === name)) throw new Error(`two tools are called "${name}"`);
    byName.set(name, tool);
  }
  return byName;
}

function packTool(tool: ForegroundTool, announce: NodeToolsOptions["announce"]): NodeTool {
  const { name, title, description, input } = tool;
  return {
    description: { name, title, description, inputSchema: objectSchema(input, "input", name), annotations: annotationsOf(title, "read") },
    run: async (_caller, given) => tool.run(parseArguments(input, given), { announce }),
  };
}

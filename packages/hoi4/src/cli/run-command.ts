import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { registerHandlers, type ArtifactFile } from "@holdfast/core";
import { handlers } from "../handlers.ts";
import { pack } from "../manifest.ts";
import { viewFolders } from "./folder-view.ts";
import { localContext } from "./local-context.ts";
import { readCommand, USAGE } from "./read-command.ts";

export interface Printer {
  out(text: string): void;
  note(text: string): void;
}

/** Runs one reading operation of the pack without a service. Answers the exit code: 0, 1 for a result that is an error, 2 for a command that is none. */
export async function runCommand(args: readonly string[], { out, note }: Printer, signal: AbortSignal): Promise<number> {
  if (args.length === 0 || args.includes("--help")) {
    out(USAGE);
    return args.length === 0 ? 2 : 0;
  }
  const refuse = (message: string): number => {
    note(`hoi4: ${message}\n${USAGE.split("\n")[0] ?? ""}`);
    return 2;
  };
  const command = readCommand(args);
  if (typeof command === "string") return refuse(command);
  const reading = [...registerHandlers(pack, handlers)].filter(([, { operation }]) => operation.effect === "read");
  const handled = reading.find(([name]) => name === command.operation)?.[1];
  if (handled === undefined)
    return refuse(`There is no operation ${command.operation} that reads; there is ${reading.map(([name]) => name).join(", ")}.`);
  const input = handled.operation.input.safeParse(command.input);
  if (!input.success)
    return refuse(input.error.issues.map(({ path: at, message }) => `${at.join(".") || "arguments"}: ${message}`).join("; "));
  const context = localContext({
    workspace: viewFolders(command.mounts, command.made),
    signal,
    keep: async (file) => {
      if (command.out !== null) note(`wrote ${await writeArtifact(command.out, file)}`);
    },
    report: () => undefined,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the operation's own schema has just parsed it
  const outcome = await handled.run(input.data as never, context);
  const [block] = outcome.content;
  out(command.isJson ? JSON.stringify(outcome.structuredContent ?? null, null, 2) : block?.type === "text" ? block.text : "");
  return outcome.isError === true ? 1 : 0;
}

async function writeArtifact(folder: string, { name, bytes }: ArtifactFile): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, path.basename(name));
  await writeFile(file, bytes);
  return file;
}

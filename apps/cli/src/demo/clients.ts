import { fileURLToPath } from "node:url";
import { ChildFailed, type Child, type ChildOptions } from "../launcher/child.ts";
import { clientReportSchema, type ClientOrder, type ClientReport } from "./client-messages.ts";

const clientModule = fileURLToPath(new URL("./client-process.ts", import.meta.url));

/** Runs a client process to its end and answers its last report. Rejects with `ChildFailed` when it fails. */
export async function runClient(
  { name, order, token, env }: { name: string; order: ClientOrder; token: string; env: Readonly<Record<string, string>> },
  start: (options: ChildOptions) => Child,
  onReport: (report: ClientReport) => void = () => undefined,
): Promise<ClientReport | undefined> {
  const reports: ClientReport[] = [];
  const child = start({
    name,
    module: clientModule,
    args: [JSON.stringify(order)],
    // Not as an argument: those are public on a machine.
    env: { ...env, HOLDFAST_TOKEN: token },
    onLine: (line) => {
      const report = clientReportSchema.parse(JSON.parse(line));
      reports.push(report);
      onReport(report);
    },
  });
  const exit = await child.exit;
  if (exit.code !== 0) throw new ChildFailed(child, exit);
  return reports.at(-1);
}

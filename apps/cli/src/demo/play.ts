import path from "node:path";
import { connect } from "node:net";
import type { CliConfig } from "../config.ts";
import { ChildFailed, type Child } from "../launcher/child.ts";
import type { Terminal } from "../terminal.ts";
import { startProgress } from "../terminal-progress.ts";
import type { ClientReport } from "./client-messages.ts";
import { runClient } from "./clients.ts";
import { describeResult, type DescribedResult } from "./describe-result.ts";
import type { Narrator } from "./narrator.ts";
import { buildStage, type Stage } from "./stage.ts";

const tool = "hoi4.event_inspect";
const clientTokenSeconds = 15 * 60;
/** For the largest mods; the example takes a moment. */
const followMs = 10 * 60_000;

/** What the play ended with, for the closing words. */
export interface Played {
  readonly stage: Stage;
  readonly result: DescribedResult;
}

/** Plays the main job in front of the person at the terminal and says in plain words what happens. */
export async function play(
  { config, narrator, mod }: { config: CliConfig; narrator: Narrator; mod: string },
  cleanup: AsyncDisposableStack,
): Promise<Played> {
  const { heading, say, terminal } = narrator;

  heading("Setting the stage");
  const stage = await buildStage({ config, mod, say: (line) => say(`- ${line}`) }, cleanup);
  say("No worker runs yet, so that the work is certainly unfinished when node A dies.");

  heading(`Client A asks node A for the event graph of ${path.basename(mod)}`);
  const taskId = await startTask(stage, config);
  say(`It called ${tool} as a task. Node A committed the task to Postgres and answered with a handle:`);
  say("");
  say(`  ${taskId}`);
  say("");
  say("Client A has all it needs and has ended.");

  heading("Node A is killed");
  await stage.nodeA.child.kill();
  if (await accepts(stage.nodeA.url)) throw new Error(`node A still accepts connections at ${stage.nodeA.url}`);
  say(`SIGKILL to process ${stage.nodeA.child.pid}: it handed nothing over. New connections to it are refused.`);

  heading("Client B asks node B for the same task");
  say("It is a new process with a new token of the same subject; the handle is all it was told.");
  say("The worker starts now, finds the task in Postgres and scans the mod in a child process.");
  const { result, artifact } = await followTask(stage, { config, terminal, taskId });
  const described = describeResult({ result, artifact, width: terminal.width });

  heading("The result, as node B delivered it");
  for (const line of described.lines) say(line);
  return { stage, result: described };
}

async function startTask(stage: Stage, { inherited: env }: CliConfig): Promise<string> {
  const order = { kind: "start", url: stage.nodeA.url, tool, input: { mode: "scan" } } as const;
  const last = await runClient({ name: "client A", order, token: await stage.token(clientTokenSeconds), env }, stage.start);
  if (last?.kind !== "handle") throw new Error("client A ended without a handle");
  return last.taskId;
}

async function followTask(
  stage: Stage,
  { config, terminal, taskId }: { config: CliConfig; terminal: Terminal; taskId: string },
): Promise<Extract<ClientReport, { kind: "result" }>> {
  const progress = startProgress(terminal);
  progress.update({ fraction: null, text: "client B starts" });
  const order = { kind: "follow", url: stage.nodeB.url, taskId, deadlineMs: followMs } as const;
  const token = await stage.token(clientTokenSeconds);
  const following = runClient({ name: "client B", order, token, env: config.inherited }, stage.start, (report) => {
    if (report.kind !== "status") return;
    progress.update({ fraction: report.fraction, text: `node B says: ${[report.status, report.message].filter(Boolean).join(", ")}` });
  });
  const startedAt = performance.now();
  let verdict = "Client B got no result.";
  try {
    const worker = stage.startWorker();
    const [last] = await Promise.race([Promise.all([following, worker]), worker.then(endingEarly), endingEarly(stage.nodeB.child)]);
    if (last?.kind !== "result") throw new Error("client B ended without a result");
    verdict = `Client B had the result after ${((performance.now() - startedAt) / 1000).toFixed(1)} s, start of the worker included.`;
    return last;
  } finally {
    progress.finish(verdict);
  }
}

/** Rejects when the process ends: nothing would be left to wait for. */
async function endingEarly(child: Child): Promise<never> {
  throw new ChildFailed(child, await child.exit);
}

async function accepts(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  socket.once("connect", () => resolve(true));
  socket.once("error", () => resolve(false));
  const accepted = await promise;
  socket.destroy();
  return accepted;
}

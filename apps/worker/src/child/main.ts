/**
 * The isolated process: loads the packs named in its arguments, then runs one operation at a time for the parent at the
 * other end of its channel. It has no environment, no credentials and no database, and ends with its parent.
 */
import { parseArgs } from "node:util";
import { loadHandlers, type HandledOperation } from "@holdfast/core";
import type { ParentFrame } from "../sandbox/frames.ts";
import { openChannel } from "./channel.ts";
import { confineProcess } from "./confine.ts";
import { createQuietCheck } from "./quiet.ts";
import { runOperation, type RunningOperation } from "./run-operation.ts";

const { values } = parseArgs({ options: { pack: { type: "string", multiple: true, default: [] } } });
const handlers = new Map<string, HandledOperation>();
let running: RunningOperation | null = null;

confineProcess();
const channel = openChannel(receive);
for (const pack of values.pack) {
  for (const [name, handled] of await loadHandlers(pack, (specifier) => import(specifier))) handlers.set(name, handled);
}
const isQuiet = createQuietCheck();
await channel.send({ kind: "ready" });

function receive(frame: ParentFrame): void {
  if (frame.kind === "run") {
    if (running !== null) throw new Error(`run ${frame.run} was ordered while run ${running.run} is under way`);
    running = runOperation({ frame, handlers, channel, isQuiet, onAnswered: () => (running = null) });
    return;
  }
  // What concerns a run that has answered meanwhile has crossed its answer on the way.
  if (running?.run !== frame.run) return;
  if (frame.kind === "abort") running.abort(frame.reason);
  else running.take(frame);
}

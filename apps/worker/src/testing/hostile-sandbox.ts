import { createHash } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadManifest, registerPacks, type TaskProgress, type TelemetryEvent, type TelemetryEvents } from "@holdfast/core";
import type { OperationJob, ReceivedArtifact } from "../sandbox/operation-job.ts";
import { createSandbox, type OperationOutcome, type OperationRun, type Sandbox } from "../sandbox/sandbox.ts";

const HOSTILE_PACK = path.resolve(import.meta.dirname, "../../../../test/fixtures/packs/hostile");

export interface HostileSandbox extends AsyncDisposable {
  readonly sandbox: Sandbox;
  /** A declared root with nothing in it; the workspace is its folder `mod`. */
  readonly root: string;
  readonly progress: TaskProgress[];
  readonly artifacts: ReceivedArtifact[];
  readonly events: { readonly name: TelemetryEvent; readonly event: TelemetryEvents[TelemetryEvent] }[];
  start(operation: string, input?: Record<string, unknown>, overrides?: Partial<OperationJob>): OperationRun;
  run(operation: string, input?: Record<string, unknown>, overrides?: Partial<OperationJob>): Promise<OperationOutcome>;
  /** The text of the result of an operation that is expected to succeed. */
  text(operation: string, input?: Record<string, unknown>, overrides?: Partial<OperationJob>): Promise<string>;
}

/** A sandbox with the hostile pack and a store of artifacts in memory. */
export async function startHostileSandbox(options: { slots?: number } = {}): Promise<HostileSandbox> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-root-")));
  const operations = registerPacks([await loadManifest(HOSTILE_PACK, (specifier) => import(specifier))]);
  const progress: TaskProgress[] = [];
  const artifacts: ReceivedArtifact[] = [];
  const events: HostileSandbox["events"] = [];
  const sandbox = createSandbox({
    packs: [HOSTILE_PACK],
    roots: [root],
    operations,
    slots: options.slots ?? 2,
    telemetry: { emit: (name, event) => void events.push({ name, event }) },
  });
  await sandbox.start();

  function start(name: string, input: Record<string, unknown> = {}, overrides: Partial<OperationJob> = {}): OperationRun {
    const operation = operations.get(`hostile.${name}`);
    if (operation === undefined) throw new Error(`the hostile pack has no operation "${name}"`);
    return sandbox.run({
      operation,
      input,
      workspace: { id: "current", root, path: "mod", revision: "as it is" },
      left: { checkpoint: null, steps: [], inputs: [] },
      onProgress: (report) => void progress.push(report),
      storeArtifact(file) {
        artifacts.push(file);
        return Promise.resolve({ kind: "stored", sha256: createHash("sha256").update(file.bytes).digest("hex") });
      },
      saveCheckpoint: () => Promise.resolve("kept"),
      saveStep: () => Promise.resolve("kept"),
      transact: () => Promise.resolve({ kind: "committed" }),
      ...overrides,
    });
  }

  return {
    sandbox,
    root,
    progress,
    artifacts,
    events,
    start,
    run: (...job) => start(...job).outcome,
    async text(...job) {
      const outcome = await start(...job).outcome;
      const [block] = outcome.kind === "result" ? outcome.result.content : [];
      if (block?.type !== "text") throw new Error(`expected a text, got ${JSON.stringify(outcome)}`);
      return block.text;
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await rm(root, { recursive: true });
    },
  };
}

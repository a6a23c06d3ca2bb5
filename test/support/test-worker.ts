import { readWorkerConfig, startWorker, type RunningWorker, type WorkerConfig } from "@holdfast/worker";
import type { TelemetryEvent, TelemetryEvents } from "@holdfast/core";
import { ROOT_NAME, TEST_PACKS, type TaskWorld } from "./task-world.ts";

export interface TestWorker extends RunningWorker, AsyncDisposable {
  readonly events: { readonly name: TelemetryEvent; readonly event: TelemetryEvents[TelemetryEvent] }[];
}

/** Short, so that tests of dead workers do not wait long; every deadline of a test is derived from it. */
export const LEASE_MS = 1_500;

/** A worker in this process, with the packs of the tests. */
export async function startTestWorker(world: TaskWorld, overrides: Partial<WorkerConfig> = {}): Promise<TestWorker> {
  const events: TestWorker["events"] = [];
  const environment = {
    DATABASE_URL: world.url,
    HOLDFAST_KEYS: world.keys,
    HOLDFAST_PACKS: TEST_PACKS,
    HOLDFAST_ROOTS: `${ROOT_NAME}=${world.root}`,
    HOLDFAST_LEASE_MS: String(LEASE_MS),
    HOLDFAST_DRAIN_MS: "2000",
    HOLDFAST_LOG_LEVEL: "silent",
  };
  const config = { ...readWorkerConfig(environment), ...overrides };
  const worker = await startWorker(config, { telemetry: { emit: (name, event) => void events.push({ name, event }) } });
  return { ...worker, events, [Symbol.asyncDispose]: () => worker.stop() };
}

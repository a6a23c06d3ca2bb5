import {
  formatArtifactUri,
  parseWorkspaceId,
  type ArtifactFile,
  type JsonObject,
  type JsonValue,
  type OperationContext,
  type ProgressReport,
  type WorkspaceView,
} from "@holdfast/core";
import { sha256Of } from "../sha256.ts";
import { transact } from "./transact.ts";
import type { TestWorkspace } from "./test-workspace.ts";

/** What an operation did with its context, for a test to look at. */
export interface RecordingContext extends OperationContext {
  readonly reports: readonly ProgressReport[];
  readonly artifacts: readonly ArtifactFile[];
  /** Paths that the transaction has replaced or removed; empty before and without one. */
  readonly written: readonly string[];
}

/** What one attempt leaves to the next: hand it to a second context to run the operation again. */
export interface AttemptMemory {
  checkpoint: { readonly revision: string; readonly value: JsonValue } | null;
  readonly steps: Map<string, { readonly revision: string; readonly value: JsonValue }>;
}

interface RecordingOptions {
  readonly signal?: AbortSignal;
  /** What the client has answered, by key; an operation that asks for more is over. */
  readonly answers?: Readonly<Record<string, JsonObject>>;
  readonly memory?: AttemptMemory;
}

/** A context without a service behind it: it keeps what it is given, and writes into the workspace of the test. */
export function recordingContext(
  workspace: WorkspaceView | TestWorkspace,
  { signal = new AbortController().signal, answers = {}, memory = { checkpoint: null, steps: new Map() } }: RecordingOptions = {},
): RecordingContext {
  const reports: ProgressReport[] = [];
  const artifacts: ArtifactFile[] = [];
  const written: string[] = [];
  const { revision } = workspace;
  const workspaceId = parseWorkspaceId(workspace.id);
  if (workspaceId === null) throw new Error(`"${workspace.id}" is no workspace id`);
  let hasPlan = false;
  return {
    signal,
    workspace,
    reports,
    artifacts,
    written,
    progress: (report) => {
      reports.push(report);
    },
    artifact: (file) => {
      artifacts.push(file);
      const { name, mimeType, title, bytes } = file;
      return Promise.resolve({
        uri: formatArtifactUri({ workspaceId, sha256: sha256Of(bytes), name }),
        name,
        mimeType,
        size: bytes.length,
        ...(title === undefined ? {} : { title }),
      });
    },
    checkpoint: {
      load: (schema) => {
        const kept = memory.checkpoint;
        const parsed = kept?.revision === revision ? schema.safeParse(kept.value) : null;
        return parsed?.success === true ? parsed.data : null;
      },
      save: (value) => {
        memory.checkpoint = { revision, value };
        return Promise.resolve();
      },
    },
    step: async <Value extends JsonValue>(key: string, work: () => Promise<Value>) => {
      const kept = memory.steps.get(key);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key stands for one piece of work, whose value this is
      if (kept?.revision === revision) return kept.value as Value;
      const value = await work();
      memory.steps.set(key, { revision, value });
      return value;
    },
    input: (requests) => {
      const missing = Object.keys(requests).filter((key) => answers[key] === undefined);
      if (missing.length > 0) return Promise.reject(new Error(`the test has no answer to ${missing.join(", ")}`));
      return Promise.resolve(Object.fromEntries(Object.keys(requests).map((key) => [key, answers[key] ?? {}])));
    },
    transaction: async (plan) => {
      if (hasPlan) throw new Error("an operation carries out one plan only");
      hasPlan = true;
      if (!("write" in workspace)) throw new Error("this workspace cannot be written to");
      const outcome = await transact(workspace, plan);
      if (outcome.kind === "committed") written.push(...plan.files.map(({ path }) => path));
      return outcome;
    },
  };
}

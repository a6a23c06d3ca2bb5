import type { HandledOperation, Operation, OperationContext, ToolResult } from "@holdfast/core";
import type { AbortReason, AnswerFrame, ChildFrame, RunFrame } from "../sandbox/frames.ts";
import { createArtifactSender } from "./artifact-sender.ts";
import { createClientQuestions } from "./ask-client.ts";
import type { Channel } from "./channel.ts";
import { errorData } from "./error-data.ts";
import { createExchange } from "./exchange.ts";
import { createMemory } from "./memory.ts";
import { createPlanSender } from "./plan-sender.ts";
import { mergeProgress } from "./progress.ts";
import { viewWorkspace } from "./workspace-view.ts";

/** One operation under way. */
export interface RunningOperation {
  readonly run: number;
  /** Aborts the handler's signal; what follows is up to the handler, and to the parent's patience. */
  abort(reason: AbortReason): void;
  /** The parent's word on what the operation asked of it. */
  take(answer: AnswerFrame): void;
}

/** Runs one operation and sends exactly one answer, after everything else it has to send. `onAnswered` is called last. */
export function runOperation(options: {
  readonly frame: RunFrame;
  readonly handlers: ReadonlyMap<string, HandledOperation>;
  readonly channel: Channel;
  /** Whether nothing is left of the operations that have ended. */
  readonly isQuiet: () => Promise<boolean>;
  readonly onAnswered: () => void;
}): RunningOperation {
  const { frame, handlers, channel, isQuiet, onAnswered } = options;
  const { run } = frame;
  const abort = new AbortController();
  const exchange = createExchange(channel);
  const progress = mergeProgress((merged) => owned(channel.send({ kind: "progress", run, ...merged })));
  const { checkpoint, step } = createMemory(frame, exchange);

  function contextFor(operation: Operation): OperationContext {
    return {
      signal: abort.signal,
      progress: progress.report,
      artifact: createArtifactSender({ exchange, run, workspaceId: frame.workspace.id, maxBytes: frame.limits.artifactBytes }),
      workspace: viewWorkspace(frame.workspace),
      checkpoint,
      step,
      input: createClientQuestions({ frame, operation, exchange, channel }),
      transaction: createPlanSender({ exchange, run, operation }),
    };
  }

  async function answer(): Promise<Answer> {
    const handled = handlers.get(frame.operation);
    if (handled?.operation.version !== frame.version) return unknownOperation(frame, handled);
    try {
      const result = await call(handled, frame.input, contextFor(handled.operation));
      return encodeResult({ run, result, maxBytes: frame.limits.resultBytes });
    } catch (thrown) {
      return { kind: "threw", run, error: errorData(thrown) };
    }
  }

  async function conclude(given: Answer): Promise<void> {
    progress.close();
    await exchange.close();
    const text =
      given.kind === "encoded"
        ? `{"kind":"result","run":${run},"reusable":${await isQuiet()},"result":${given.json}}`
        : JSON.stringify(given);
    // Before the answer leaves: the parent may send the next run as soon as it has it.
    onAnswered();
    await channel.sendText(text);
  }

  owned(answer().then(conclude));

  return {
    run,
    abort: (reason) => abort.abort(new DOMException(ABORT_MESSAGES[reason], { name: "AbortError", cause: reason })),
    take: exchange.take,
  };
}

type Answer = Extract<ChildFrame, { kind: "threw" | "unanswerable" | "unknown" }> | { readonly kind: "encoded"; readonly json: string };

const ABORT_MESSAGES: Readonly<Record<AbortReason, string>> = {
  cancelled: "the task was cancelled",
  drain: "the worker is draining",
  timeout: "the operation's time limit has passed",
};

/** The input was validated where the task was created; it is parsed again because defaults and brands do not survive JSON. */
function call(handled: HandledOperation, input: unknown, context: OperationContext): Promise<ToolResult> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a list of handlers forgets each one's input type; its own schema has just made the value
  return handled.run(handled.operation.input.parse(input) as never, context);
}

function encodeResult(answer: { run: number; result: unknown; maxBytes: number }): Answer {
  const { run, result, maxBytes } = answer;
  try {
    // Undefined for what has no JSON at all, which the declared type does not say.
    const json: unknown = JSON.stringify(result);
    if (typeof json !== "string") return unanswerable(run, `a result of type ${typeof result} is no JSON`);
    const bytes = Buffer.byteLength(json);
    if (bytes > maxBytes) return unanswerable(run, `a result of ${bytes} bytes exceeds the limit of ${maxBytes}`);
    return { kind: "encoded", json };
  } catch (error) {
    return unanswerable(run, `the result is no JSON: ${errorData(error).message.slice(0, 500)}`);
  }
}

function unanswerable(run: number, detail: string): Answer {
  return { kind: "unanswerable", run, detail };
}

function unknownOperation(frame: RunFrame, handled: HandledOperation | undefined): Answer {
  const known = handled === undefined ? "no such operation" : `version ${handled.operation.version}`;
  return { kind: "unknown", run: frame.run, detail: `asked for ${frame.operation} version ${frame.version}, the packs have ${known}` };
}

/** Sending fails only when the parent is gone, and then the channel ends this process. */
function owned(sending: Promise<void>): void {
  sending.catch((error: unknown) => {
    process.stderr.write(`${errorData(error).stack ?? "an answer could not be sent"}\n`);
    process.exit(1);
  });
}

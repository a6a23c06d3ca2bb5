import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import {
  AppError,
  isTerminal,
  type InputRequests,
  type JsonObject,
  type JsonValue,
  type Seals,
  type Task,
  type TaskId,
  type TaskRef,
} from "@holdfast/core";
import type { SessionStore, StoredCall, StoredQuestion } from "@holdfast/db";
import { z } from "zod";
import type { Hub } from "../../live/hub.ts";
import type { Cancellations } from "../cancellations.ts";
import type { TaskHandles } from "../handles.ts";
import { Released } from "../ordinary-call.ts";
import { parseArgumentObject } from "../parse-arguments.ts";
import { createRequestStates, ROUND_MS } from "../request-state.ts";
import type { LegacyRequest } from "./legacy-request.ts";
import { requestMessage } from "./messages.ts";
import { FEATURES } from "./revisions.ts";
import { createTaskResult } from "./serve-tools.ts";
import { callName } from "./wire-names.ts";

/** What a method's handler is told of a round that it is called for. */
export type Round = Pick<LegacyRequest, "responses" | "requestState" | "signal" | "onAdmitted" | "onAccepted">;

export interface CallToRun {
  readonly id: TaskId;
  readonly method: string;
  readonly params: JsonObject;
  readonly request: Pick<LegacyRequest, "id" | "session" | "reply" | "caller">;
  readonly answer: (round: Round) => Promise<Result>;
}

/**
 * Runs requests that may ask their client something, or wait for a task. What was asked, and what is waited for, is in the store, so that
 * another node can go on where this one stops: when the client goes, which cancels nothing in this era, and when the node drains.
 */
export interface CallRunner {
  /** `isRecorded` false for a call that leaves no trace unless it asks. Rejects with `Released` when somebody else goes on with it. */
  run(call: CallToRun, isRecorded: boolean): Promise<Result>;
  /** Goes on with a call that this session began, maybe on another node; the client has seen its events up to `position`. */
  resume(call: CallToRun, stored: StoredCall, position: number): Promise<Result>;
  /** Lets go of all calls whose clients can go on elsewhere. */
  drain(): void;
}

export interface CallRunnerOptions {
  readonly store: SessionStore;
  readonly hub: Hub;
  readonly seals: Seals;
  readonly handles: TaskHandles;
  readonly cancellations: Cancellations;
  readonly readTask: (ref: TaskRef) => Promise<Task | null>;
  /** Tells other nodes to look at a task, a call or a session. */
  readonly publish: (id: TaskId) => void;
  readonly now: () => number;
}

/** How long whoever takes over a call waits for the task that an admission elsewhere may be about to make: longer than a statement takes. */
const ADMISSION_MS = 15_000;
const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 2_000;

export function createCallRunner(options: CallRunnerOptions): CallRunner {
  const { store, hub, cancellations, handles, readTask, publish, now } = options;
  const states = createRequestStates(options);
  const open = new Set<() => void>();

  /** Watches over a call while it is held: its client may go, another node may take it or cancel it, and this one may drain. */
  async function holding(held: Held, work: () => Promise<Result>): Promise<Result> {
    const { call, controller } = held;
    const { reply, session } = call.request;
    const leave = (): void => {
      held.hasLeft = true;
      if (held.mayLeave) controller.abort(new Released("nobody reads the answer here"));
    };
    const look = async (): Promise<void> => {
      const stored = await store.lookAtCall(call.id);
      if (held.isRecorded && !isHeld(held, stored)) controller.abort(new Released("the call is somebody else's"));
    };
    // A hint that cannot be followed costs nothing: whoever answers asks the store once more.
    using _hints = hub.subscribe([call.id], () => void look().catch(() => undefined));
    reply.left.addEventListener("abort", leave, { once: true });
    if (reply.left.aborted) leave();
    if (FEATURES[session.revision].primedStreams) open.add(leave);
    try {
      const result = await work();
      if (!(await maySettle(held))) throw new Released("the call is somebody else's to answer");
      return result;
    } catch (error) {
      if (!(error instanceof Released) && !(await maySettle(held))) throw new Released("the call was cancelled", { cause: error });
      throw error;
    } finally {
      open.delete(leave);
      reply.left.removeEventListener("abort", leave);
    }
  }

  async function maySettle({ call, epoch, isRecorded }: Held): Promise<boolean> {
    // The outcome is true even if the store cannot note at the moment that it was told.
    return !isRecorded || (await store.settleCall({ id: call.id, epoch }).catch(() => true));
  }

  async function record(held: Held): Promise<void> {
    if (held.isRecorded) return;
    const { id, method, params, request } = held.call;
    const asTask = FEATURES[request.session.revision].tasks && params["task"] !== undefined;
    const outcome = await store.beginCall({
      id,
      sessionId: request.session.id,
      requestId: JSON.stringify(request.id),
      method,
      params,
      asTask,
    });
    if (outcome === "full") throw new AppError("overloaded", `too many calls of session ${request.session.id} wait`);
    if (outcome === "ended") throw new ProtocolError(-32_001, "Session not found");
    held.isRecorded = true;
    if (FEATURES[request.session.revision].primedStreams) request.reply.resumeFrom(callName(id, 0));
  }

  const roundOf = (held: Held, responses: Round["responses"], requestState: string | null): Round => ({
    responses,
    requestState,
    signal: held.controller.signal,
    onAdmitted: async (task) => {
      if (!(await store.bindCall(held.call.id, task.id))) throw new AppError("task_cancelled", `the call of task ${task.id} was cancelled`);
      held.taskId = task.id;
      held.mayLeave = true;
      if (held.hasLeft) throw new Released("nobody reads the answer here");
      if (!isTerminal(task.status)) held.call.request.reply.open();
    },
    onAccepted: async (task) => {
      await store.bindCall(held.call.id, task.id);
      publish(held.call.request.session.id);
    },
  });

  /** Round after round, until the answer is none that asks. */
  async function answer(held: Held, given: Round["responses"], state: string | null): Promise<Result> {
    let [responses, requestState] = [given, state];
    for (;;) {
      // Until there is a task nobody else can go on with the call, so that a client that goes now is not heeded before there is one.
      held.mayLeave = held.taskId !== null;
      const result = await held.call.answer(roundOf(held, responses, requestState));
      held.mayLeave = true;
      const asked = askedSchema.safeParse(result).data;
      if (asked === undefined) return result;
      await record(held);
      const { id } = held.call;
      const questions = await store.askClient({ id, epoch: held.epoch, requests: asked.inputRequests, requestState: asked.requestState });
      if (questions === null) throw new Released("the call is somebody else's");
      responses = await answersOf(held, questions, 0);
      requestState = asked.requestState;
    }
  }

  /** Sends what the client has not seen, and waits until all is answered. */
  async function answersOf(held: Held, questions: readonly StoredQuestion[], seen: number): Promise<Record<string, JsonValue>> {
    const { id, request } = held.call;
    if (held.hasLeft) throw new Released("nobody reads the questions here");
    for (const { position, method, params, answer: known } of questions)
      if (known === null && position > seen)
        request.reply.send(requestMessage(callName(id, position), method, params), callName(id, position));
    const isAnswered = ({ questions: round }: StoredCall): boolean => round.every(({ answer: known }) => known !== null);
    const answered = await untilStored(held, ROUND_MS, isAnswered, () => letGo(held, "the client did not answer in time"));
    const responses = responsesOf(answered.questions);
    if (responses === null) throw letGo(held, "the client answered with an error");
    if (!(await store.takeAnswers({ id, epoch: held.epoch }))) throw new Released("the call is somebody else's");
    return responses;
  }

  function letGo({ call, taskId }: Held, reason: string): AppError {
    const { caller } = call.request;
    if (taskId !== null) cancellations.abandon({ id: taskId, principal: caller.principal }, caller.requestId);
    return new AppError("task_cancelled", `call ${call.id}: ${reason}`);
  }

  /** Looks at each hint and from time to time. Rejects with `Released` when the call is not ours any more. */
  async function untilStored(
    held: Held,
    deadlineMs: number,
    wish: (stored: StoredCall) => boolean,
    tooLate: () => AppError,
  ): Promise<StoredCall> {
    const { id } = held.call;
    using watch = hub.watch(id);
    const endsAt = performance.now() + deadlineMs;
    for (let timeoutMs = FIRST_LOOK_MS; ; timeoutMs = Math.min(timeoutMs * 2, LAST_LOOK_MS)) {
      const stored = await store.lookAtCall(id).catch((error: unknown) => {
        if (error instanceof AppError && (error.code === "storage_unavailable" || error.code === "overloaded")) return "unknown" as const;
        throw error;
      });
      if (stored !== "unknown") {
        if (stored === null || !isHeld(held, stored)) throw new Released("the call is somebody else's");
        if (wish(stored)) return stored;
      }
      if (performance.now() > endsAt) throw tooLate();
      await watch.next({ timeoutMs, signal: held.controller.signal });
    }
  }

  /** The state that a parked task's answers would come with: it makes the handler wait for that task. */
  function waitingFor({ params, request }: CallToRun, taskId: TaskId): string {
    const { name, arguments: given } = callParamsSchema.parse(params);
    const subject = { principal: request.caller.principal, method: "tools/call", name, arguments: parseArgumentObject(given) } as const;
    return states.close(subject, { kind: "parked", taskId }, new Date(now() + ROUND_MS));
  }

  async function acceptedTask({ request }: CallToRun, taskId: TaskId): Promise<Result> {
    const { principal } = request.caller;
    const task = await readTask({ id: taskId, principal });
    if (task === null) throw new AppError("task_not_found", `task ${taskId} is out of reach`);
    return createTaskResult(handles.sign({ generation: "l", principal }, { workspaceId: task.workspaceId, taskId }), task);
  }

  async function goOn(held: Held, stored: StoredCall, seen: number): Promise<Result> {
    if (stored.requestState !== null) {
      const responses = await answersOf(held, stored.questions, seen);
      // An answer that the client gave before is not asked for again, so the newest state is what goes with the answers.
      return await answer(held, responses, stored.requestState);
    }
    const known = stored.taskId === null ? await untilStored(held, ADMISSION_MS, isBegun, () => neverBegun(held)) : stored;
    held.taskId = known.taskId;
    if (known.taskId === null) return await goOn(held, known, seen);
    if (known.asTask) return await acceptedTask(held.call, known.taskId);
    return await answer(held, null, waitingFor(held.call, known.taskId));
  }

  return {
    run: async (call, isRecorded) => {
      const held: Held = {
        call,
        epoch: 0,
        taskId: null,
        isRecorded: false,
        controller: new AbortController(),
        mayLeave: false,
        hasLeft: false,
      };
      if (isRecorded) await record(held);
      return await holding(held, () => answer(held, null, null));
    },
    resume: async (call, stored, position) => {
      const { epoch, taskId } = stored;
      const held: Held = { call, epoch, taskId, isRecorded: true, controller: new AbortController(), mayLeave: true, hasLeft: false };
      publish(call.id);
      return await holding(held, () => goOn(held, stored, position));
    },
    drain: () => {
      for (const leave of open) leave();
    },
  };
}

/** A call while this node is at it. */
interface Held {
  readonly call: CallToRun;
  readonly epoch: number;
  readonly controller: AbortController;
  taskId: TaskId | null;
  isRecorded: boolean;
  /** Whether somebody else could go on with it from here. */
  mayLeave: boolean;
  hasLeft: boolean;
}

function isHeld({ epoch }: Held, stored: StoredCall | null): boolean {
  return stored !== null && !stored.isCancelled && stored.epoch === epoch;
}

/** Nobody can tell whether there is a task, so nobody creates one in its place: a write might be done twice. */
function neverBegun({ call }: Held): AppError {
  return new AppError("overloaded", `the node that began call ${call.id} created no task for it`);
}

function isBegun({ taskId, requestState }: StoredCall): boolean {
  return taskId !== null || requestState !== null;
}

const objectSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const askedSchema = z.object({
  resultType: z.literal("input_required"),
  inputRequests: z.custom<InputRequests>((value) => typeof value === "object" && value !== null),
  requestState: z.string(),
});
const callParamsSchema = z.object({ name: z.string(), arguments: objectSchema.default({}) });
const resultSchema = z.object({ result: objectSchema });

/** Null when one of the answers is an error: the client was asked and will not say. */
function responsesOf(questions: readonly StoredQuestion[]): Record<string, JsonValue> | null {
  const responses: [string, JsonValue][] = [];
  for (const { key, answer } of questions) {
    const parsed = resultSchema.safeParse(answer);
    if (!parsed.success) return null;
    responses.push([key, parsed.data.result]);
  }
  return Object.fromEntries(responses);
}

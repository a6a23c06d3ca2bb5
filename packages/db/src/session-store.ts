import type { Task, TaskId } from "@holdfast/core";
import type { Database } from "./pool.ts";
import { listSessionTasks, listTasks, type TaskPage } from "./reads/list-tasks.ts";
import { answerQuestion, askClient, takeAnswers, type NewRound, type QuestionAnswer } from "./writes/ask-client.ts";
import { beginCall, bindCall, settleCall, type NewCall } from "./writes/begin-call.ts";
import { cancelCalls, type CancelledCall } from "./writes/cancel-call.ts";
import { endSession, type EndedSession } from "./writes/end-session.ts";
import { meetSession, setLogLevel, takeSessionStream, type SessionRef, type StoredSession } from "./writes/meet-session.ts";
import { openSession, type NewSession } from "./writes/open-session.ts";
import { lookAtCall, takeOverCall, type StoredCall, type StoredQuestion } from "./writes/take-over-call.ts";

/** The sessions of the revisions from 2025, and their calls: what any node needs to go on where another one stopped. */
export interface SessionStore {
  open(session: NewSession): Promise<void>;
  /** Null for every session that this principal does not have, whatever the reason. */
  meet(ref: SessionRef): Promise<StoredSession | null>;
  end(ref: SessionRef): Promise<EndedSession | null>;
  takeStream(sessionId: TaskId): Promise<number | null>;
  setLogLevel(sessionId: TaskId, level: string): Promise<void>;
  tasksOf(sessionId: TaskId, since: Date): Promise<{ readonly streamEpoch: number; readonly taskIds: readonly TaskId[] } | null>;
  beginCall(call: NewCall): Promise<"begun" | "full" | "ended">;
  bindCall(id: TaskId, taskId: TaskId): Promise<boolean>;
  askClient(round: NewRound): Promise<readonly StoredQuestion[] | null>;
  answerQuestion(answer: QuestionAnswer): Promise<boolean>;
  takeAnswers(call: { readonly id: TaskId; readonly epoch: number }): Promise<boolean>;
  settleCall(call: { readonly id: TaskId; readonly epoch: number }): Promise<boolean>;
  cancelCalls(sessionId: TaskId, requestId: string): Promise<readonly CancelledCall[]>;
  takeOverCall(sessionId: TaskId, id: TaskId): Promise<StoredCall | null>;
  lookAtCall(id: TaskId): Promise<StoredCall | null>;
  listTasks(page: TaskPage): Promise<readonly Task[]>;
}

export function createSessionStore(database: Database): SessionStore {
  return {
    open: (session) => openSession(database, session),
    meet: (ref) => meetSession(database, ref),
    end: (ref) => endSession(database, ref),
    takeStream: (sessionId) => takeSessionStream(database, sessionId),
    setLogLevel: (sessionId, level) => setLogLevel(database, sessionId, level),
    tasksOf: (sessionId, since) => listSessionTasks(database, sessionId, since),
    beginCall: (call) => beginCall(database, call),
    bindCall: (id, taskId) => bindCall(database, id, taskId),
    askClient: (round) => askClient(database, round),
    answerQuestion: (answer) => answerQuestion(database, answer),
    takeAnswers: (call) => takeAnswers(database, call),
    settleCall: (call) => settleCall(database, call),
    cancelCalls: (sessionId, requestId) => cancelCalls(database, sessionId, requestId),
    takeOverCall: (sessionId, id) => takeOverCall(database, sessionId, id),
    lookAtCall: (id) => lookAtCall(database, id),
    listTasks: (page) => listTasks(database, page),
  };
}

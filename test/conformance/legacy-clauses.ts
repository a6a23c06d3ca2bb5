import type { Beyond, TestsByFile } from "./clause-map.ts";

// The clauses of docs/contract.md as they are kept for clients of the revisions from 2025, beside clauses.ts.

const sessions = "test/integration/legacy-sessions.test.ts";
const calls = "test/integration/legacy-calls.test.ts";
const tasks = "test/integration/legacy-tasks.test.ts";
const clients = "test/e2e/legacy-clients.test.ts";
const store = "packages/db/src/session-store.test.ts";

export const legacyClauses: Readonly<Record<string, TestsByFile>> = {
  "C1.2": { [calls]: ["an ordinary call answers what the modern protocol answers"] },
  "C1.3": { [tasks]: ["a task is handed out, found, and its result delivered at another node with the task it belongs to"] },
  "C1.4": {
    [sessions]: ["a session of %s that one node opened is known to another"],
    [calls]: [
      "a node that drains ends its streams at once, and their calls are answered elsewhere",
      "a call whose node died before there was a task is not begun anew: the client is told to try again",
    ],
    [tasks]: ["the stream of a result goes on at another node when its own drains, and asks nothing twice"],
    [clients]: [
      "the client of 2025 calls tools behind a load balancer that knows no sessions",
      "each node is restarted over and over while twenty clients of both eras finish their work",
    ],
  },
  "C1.5": { [tasks]: ["failed and cancelled tasks say so where their result is asked for"] },
  "C1.7": {
    [calls]: ["a stream that is resumed before the task ends waits for it, and the node that held it lets go"],
    [tasks]: ["a result is waited for at a node whose listener is dead"],
  },
  "C2.3": {
    [calls]: ["nobody resumes what is not theirs, and ids that name nothing resume nothing"],
    [tasks]: ["a cursor is good for its principal, as it was given"],
    [store]: ["pages of a growing list show every task that was there exactly once, the newest first, and nobody else's"],
  },
  "C2.4": { [tasks]: ["handles of one era are unknown to the other, and those of another principal to everybody else"] },
  "C2.5": { [tasks]: ["a write is no task without a key, and one task however often it is sent with one"] },
  "C3.2": { [tasks]: ["handles of one era are unknown to the other, and those of another principal to everybody else"] },
  "C4.1": { [tasks]: ["a write is no task without a key, and one task however often it is sent with one"] },
  "C8.1": { [tasks]: ["a cancelled task is cancelled when the answer comes, and a second cancellation is refused"] },
  "C8.5": {
    [calls]: [
      "a client that goes before its call is admitted does not take the call with it",
      "a dropped connection cancels nothing, and the answer is fetched at another node",
      "a notice of cancellation reaches the call whichever node gets it, and there is no answer",
      "a call that another still waits for goes on when one of the two is cancelled",
      "the end of a session ends its calls and lets go of their tasks",
    ],
    [clients]: ["a call that the client of 2025 gives up is cancelled"],
    [store]: ["a wish to cancel finds the task of a call, or the call finds the wish"],
  },
  "C9.2": {
    [calls]: [
      "questions before and in the middle of a call are answered at another node than asked",
      "a question that was asked before the drop is not asked again, and one that was not is",
      "another session cannot answer, not even another's of the same principal",
    ],
    [tasks]: [
      "questions of a task come on the stream of its result, are answered at any node, and belong to it",
      "nobody else can answer a task's question",
    ],
    [clients]: [
      "a call asks the client of 2025 and goes on with its answers",
      "the client of 2025 follows a task from creation over its questions to the result",
    ],
  },
  "C9.3": { [calls]: ["a question that the client cannot be asked is refused before anything is done"] },
  "C10.1": { [tasks]: ["a session's stream tells how its tasks stand, wherever they were created and ended"] },
  "C10.2": { [tasks]: ["what happened while no stream was open is told when one goes on, at another node, and no other session's"] },
  "C10.4": {
    [tasks]: [
      "a principal has so many open streams at a node, and another's are not touched by it",
      "a session's stream tells of lists that changed, ends with the session, and with its node",
    ],
  },
  "C11.1": { [calls]: ["progress comes before the answer, under the token %j"] },
  "C12.1": { [tasks]: ["the time to live is what was negotiated, not what was asked for"] },
  "C13.1": { [tasks]: ["controls of jobs take the handles of their own era"] },
  "C15.1": {
    [tasks]: ["a thousand tasks of one second are listed once each while more arrive"],
    [clients]: ["the client of 2025 lists its tasks page by page and cancels one, once"],
  },
};

const REASON = "how the revisions from 2025 frame what the contract promises";

export const beyondForLegacy: Beyond = {
  [sessions]: {
    reason: REASON,
    tests: [
      "a client that asks for another revision is offered the newest that has sessions",
      "tasks are offered to the revision that knows them, and to no other",
      "unknown, foreign and ended sessions are not found alike, by any method",
      "a request without a session is told to begin one",
      "the header names the session's revision or is missing; any other is refused",
      "the request id %j comes back as it was",
      "a batch is answered where the revision has batches, up to a hundred messages",
      "a batch of %s is one refusal, and none of it is done",
      "one principal cannot pile up sessions, and another's are not touched by it",
      "what a client says of itself is bounded",
      "resources, templates, prompts and completions are those of the modern protocol",
      "a modern client and a client of 2025 share the endpoint",
    ],
  },
  [calls]: {
    reason: REASON,
    tests: [
      "unknown tools, malformed arguments and misused task support are told by the codes that the revision names",
      "requests with one id at a time from two clients, and from one, are each answered where they were asked",
      "a prompt asks as a call does",
      "a client that answers with an error ends its call and the task of it",
      "a call of an earlier revision is answered on its stream without an id to begin with",
      "calls of a batch are answered together",
      "the words of an operation's progress are its log for a client that asked for one",
    ],
  },
  [tasks]: {
    reason: REASON,
    tests: ["the newest stream of a session carries its messages, and the one before it ends", "a stream is for who accepts events"],
  },
  [clients]: { reason: REASON, tests: ["a session ends where the client of 2025 says so"] },
  "test/conformance/conformance.test.ts": { reason: REASON, tests: ["the official suite finds nothing else wrong in revision %s"] },
};

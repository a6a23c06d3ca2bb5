import { AppError, type CreateOutcome, type CreateTask, type TaskId, type TaskManager } from "@holdfast/core";
import { createLane, type Lane } from "./lane.ts";
import type { Database } from "./pool.ts";
import { findSubmittedTask, findTask } from "./reads/find-task.ts";
import { sqlStateOf } from "./storage-error.ts";
import { abandonCall } from "./writes/abandon-call.ts";
import { createTasks, type Creation } from "./writes/create-tasks.ts";
import { joinTasks, type JoinAnswer } from "./writes/join-task.ts";
import { repeatRequests, type RepeatAnswer } from "./writes/repeat-request.ts";
import { requestCancellation } from "./writes/request-cancellation.ts";
import { updateTask } from "./writes/update-task.ts";

const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** The production task manager: one per process, since creates that arrive together share a statement. */
export function createPostgresTaskManager(database: Database): TaskManager {
  const creates = createLane<CreateTask, Creation>({
    run: (requests) => createTasks(database, requests),
    // Else the inputs of a few could hold up, or time out, the creates of everybody.
    weigh: ({ input, answers }) => JSON.stringify(input).length + (answers.length === 0 ? 0 : JSON.stringify(answers).length),
    batchWeight: BATCH_CHARACTERS,
    blamesOneItem,
  });
  // Of their own, so that what met something does not hold up what meets nothing.
  const joins = createLane<CreateTask, JoinAnswer>({ run: (requests) => joinTasks(database, requests), blamesOneItem });
  const repeats = createLane<CreateTask, RepeatAnswer>({ run: (requests) => repeatRequests(database, requests), blamesOneItem });
  return {
    create: (request) => createOrMeet(database, { creates, joins, repeats }, request),
    find: (task) => findTask(database, task),
    update: (task, answers) => updateTask(database, task, answers),
    requestCancellation: (task) => requestCancellation(database, task),
    abandon: (task) => abandonCall(database, task),
  };
}

interface Lanes {
  readonly creates: Lane<CreateTask, Creation>;
  readonly joins: Lane<CreateTask, JoinAnswer>;
  readonly repeats: Lane<CreateTask, RepeatAnswer>;
}

/** Each round that is lost is one in which somebody else's identical request came and went. */
const MAX_ROUNDS = 10;

/** Creates the task or gets the one that stands in its way; when that one is gone before it is reached, from the beginning. */
async function createOrMeet(database: Database, lanes: Lanes, request: CreateTask): Promise<CreateOutcome> {
  const { principal, receipt } = request;
  // In a snapshot of its own: that of the statement before is older than the locks it may have waited for.
  const find = (id: TaskId) => findSubmittedTask(database, { id, principal });
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const creation = await lanes.creates.submit(request);
    if (creation.kind !== "met") return creation;
    const met = receipt === null ? await lanes.joins.submit(request) : await lanes.repeats.submit(request);
    if (met.kind === "denied" || met.kind === "conflict") return met;
    if (met.kind === "gone") continue;
    const task = await find(met.kind === "joined" ? met.taskId : met.receipt.taskId);
    if (task !== null) return met.kind === "joined" ? { kind: "joined", task } : { kind: "repeated", task, receipt: met.receipt };
  }
  throw new AppError("overloaded", `the task that ${request.id} would repeat came and went ${MAX_ROUNDS} times`);
}

/** A connection that broke may have committed; repeating would then report ids that are taken. */
function blamesOneItem(error: unknown): boolean {
  return error instanceof AppError && error.code === "internal" && sqlStateOf(error) !== null;
}

import type { Beyond, TestsByFile } from "./clause-map.ts";

// Which tests fail when a clause of docs/contract.md is broken. clauses.test.ts keeps both, and the tests, in step.

const serverTasks = "test/integration/server-tasks.test.ts";
const serverIdentity = "test/integration/server-identity.test.ts";
const serverProcess = "test/integration/server-process.test.ts";
const serverDatabase = "test/integration/server-database.test.ts";
const serverHttp = "test/integration/server-http.test.ts";
const attempts = "test/integration/worker/attempts.test.ts";
const cancellation = "test/integration/worker/cancellation.test.ts";
const drain = "test/integration/worker/drain.test.ts";
const queueRepair = "test/integration/worker/queue-repair.test.ts";
const reach = "test/integration/worker/reach.test.ts";
const workerKilled = "test/fault/worker-killed-mid-attempt.test.ts";
const workerPaused = "test/fault/worker-paused-past-lease.test.ts";
const workerSignalled = "test/fault/worker-signalled.test.ts";
const databaseAway = "test/fault/database-out-of-reach.test.ts";
const queueAway = "test/fault/queue-out-of-reach.test.ts";
const serverWrites = "test/integration/server-writes.test.ts";
const serverListen = "test/integration/server-listen.test.ts";
const serverProgress = "test/integration/server-progress.test.ts";
const taskTimes = "test/integration/task-times.test.ts";
const forgetting = "test/integration/forgetting.test.ts";
const hoi4Arguments = "test/integration/hoi4-arguments.test.ts";
const hoi4Rewrite = "test/integration/hoi4-focus-rewrite.test.ts";
const listenerCut = "test/fault/listener-cut.test.ts";
const listenClient = "test/e2e/listen.test.ts";
const serverInput = "test/integration/server-input.test.ts";
const writerDisturbed = "test/fault/writer-disturbed.test.ts";
const writerPaused = "test/fault/writer-paused.test.ts";
const input = "test/integration/worker/input.test.ts";
const memory = "test/integration/worker/memory.test.ts";
const reuse = "test/integration/worker/reuse.test.ts";
const transaction = "test/integration/worker/transaction.test.ts";
const writerKilled = "test/fault/writer-killed.test.ts";
const sameKey = "test/e2e/same-key.test.ts";
const busySlots = "test/e2e/busy-slots.test.ts";
const attemptMachine = "test/property/task-machine/attempts.test.ts";
const requestMachine = "test/property/task-machine/requests.test.ts";
const rounds = "apps/server/src/mcp/modern/rounds.test.ts";
const taskInput = "apps/server/src/mcp/modern/task-input.test.ts";
const requestKeys = "apps/server/src/mcp/request-keys.test.ts";
const jobTools = "apps/server/src/mcp/job-tools.test.ts";
const keptFor = "apps/server/src/mcp/modern/retention.test.ts";
const malformed = "apps/server/src/mcp/modern/malformed.test.ts";
const withProgress = "apps/server/src/mcp/modern/with-progress.test.ts";
const callProgress = "apps/server/src/mcp/call-progress.test.ts";
const listenProtocol = "apps/server/src/mcp/listen/listen-protocol.test.ts";
const taskFeed = "apps/server/src/mcp/listen/task-feed.test.ts";
const eventStream = "apps/server/src/mcp/listen/event-stream.test.ts";
const places = "apps/server/src/mcp/listen/places.test.ts";
const repeatRequest = "packages/db/src/writes/repeat-request.test.ts";
const joinTask = "packages/db/src/writes/join-task.test.ts";
const abandonCall = "packages/db/src/writes/abandon-call.test.ts";
const expireTasks = "packages/db/src/writes/expire-tasks.test.ts";
const updateTask = "packages/db/src/writes/update-task.test.ts";
const suspendAttempt = "packages/db/src/writes/suspend-attempt.test.ts";
const stageResult = "packages/db/src/writes/stage-result.test.ts";
const saveCheckpoint = "packages/db/src/writes/save-checkpoint.test.ts";
const bindJournal = "packages/db/src/writes/bind-journal.test.ts";
const moveJournal = "packages/db/src/writes/move-journal.test.ts";
const settleWrite = "packages/db/src/writes/settle-write.test.ts";
const focusRewrite = "packages/hoi4/src/operations/focus-rewrite/handler.test.ts";
const stagedByKilled = "test/fault/result-staged-by-a-killed-worker.test.ts";
const goneWhileParked = "test/fault/worker-gone-while-parked.test.ts";
const killedAtCheckpoint = "test/fault/worker-killed-at-a-checkpoint.test.ts";
const writerAskedToStop = "test/fault/writer-asked-to-stop.test.ts";
const suite = "test/conformance/conformance.test.ts";
const modernProtocol = "apps/server/src/mcp/modern/modern-protocol.test.ts";
const toolService = "apps/server/src/mcp/tool-service.test.ts";
const taskJson = "apps/server/src/mcp/modern/task-json.test.ts";
const handles = "apps/server/src/mcp/handles.test.ts";
const verifyToken = "apps/server/src/auth/verify-token.test.ts";
const waitForSettlement = "apps/server/src/live/wait-for-settlement.test.ts";
const hub = "apps/server/src/live/hub.test.ts";
const childFaults = "apps/worker/src/sandbox/child-faults.test.ts";
const sandbox = "apps/worker/src/sandbox/sandbox.test.ts";
const leaseKeeper = "apps/worker/src/attempts/lease-keeper.test.ts";
const recoverPlan = "apps/worker/src/journal/recover-plan.test.ts";
const workspaceView = "apps/worker/src/child/workspace-view.test.ts";
const transitions = "packages/core/src/tasks/transitions.test.ts";
const retention = "packages/core/src/tasks/retention.test.ts";
const errors = "packages/core/src/errors.test.ts";
const memoryManager = "packages/core/src/tasks/memory/memory-task-manager.test.ts";
const createTasks = "packages/db/src/writes/create-tasks.test.ts";
const claimAttempt = "packages/db/src/writes/claim-attempt.test.ts";
const renewLeases = "packages/db/src/writes/renew-leases.test.ts";
const reapLeases = "packages/db/src/writes/reap-leases.test.ts";
const rewakeTasks = "packages/db/src/writes/rewake-tasks.test.ts";
const settleAttempt = "packages/db/src/writes/settle-attempt.test.ts";
const requestCancellation = "packages/db/src/writes/request-cancellation.test.ts";
const storeArtifact = "packages/db/src/writes/store-artifact.test.ts";
const findTask = "packages/db/src/reads/find-task.test.ts";
const verdictQueries = "packages/db/src/verdict-queries.test.ts";
const listener = "packages/db/src/listener.test.ts";
const publisher = "packages/db/src/publisher.test.ts";
const seals = "packages/process/src/seals.test.ts";

const THE_SUITE = "the official suite finds nothing wrong in what the revision requires, in tasks, and in what it does not score";

export const clauses: Readonly<Record<string, TestsByFile>> = {
  "C1.1": {
    [suite]: [THE_SUITE],
    [modernProtocol]: [
      "a call that declares tasks gets a flat handle, and nothing that belongs to a result",
      "an operation that only runs as a task asks for the extension, and creates nothing without it",
      "an operation that is only for the foreground never becomes a task",
    ],
    [attempts]: ["a task is claimed, run and completed with the exact result of its operation"],
  },
  "C1.2": {
    [serverTasks]: [
      "the result of a task is the same on every node, byte for byte what an ordinary call returns",
      "the official client finds the tools and gets an ordinary result",
    ],
    [modernProtocol]: ["a completed task holds exactly the result that an ordinary call of the same gives"],
  },
  "C1.3": {
    [serverTasks]: ["a handle is readable on another node the instant it arrives"],
    [createTasks]: ["a created task > is found over another pool the instant create returns"],
  },
  "C1.4": {
    [serverProcess]: [
      "after its node is killed a task is fetched from another, with a fresh token of the same subject",
      "at the drain's deadline waiting calls are told to come back, and their tasks go on",
    ],
    [serverIdentity]: ["a token that expires in mid-task stops nothing: the next one of the same subject finds it"],
  },
  "C1.5": {
    [settleAttempt]: [
      "a result > with %s is stored and found byte for byte",
      "the retry budget > keeps error details for operators losslessly, and away from the owner",
    ],
    [attempts]: [
      "artifacts are stored before the result that names them",
      "an operation that %s fails its task at the first attempt",
      "a result and an error with text that no database keeps end their tasks at the first attempt, and are kept losslessly",
    ],
    [modernProtocol]: ["a failed task shows the fixed text of its fault and a reference, as a task and as an ordinary call"],
    [suite]: [THE_SUITE],
    [serverInput]: ["a task whose progress and failure hold text that no database keeps is shown all the same"],
  },
  "C1.6": {
    [modernProtocol]: ["a stored value that is no tool result fails the poll with a fixed error and leaves the task alone"],
    [taskInput]: ["stored questions that are none of MCP's fail the poll with a fixed error and leave the task alone (C1.6)"],
    [listenProtocol]: ["what was stored and cannot be delivered is not told, and an operator learns of it (C1.6)"],
    [taskFeed]: ["a state that cannot be delivered is left out and reported once, and the next one arrives"],
  },
  "C1.7": {
    [serverTasks]: [
      "an ordinary call on one node is answered when the task ends through another process",
      "hints bring answers long before a node would look by itself",
      "an ordinary call is answered although every hint is lost",
      "an ordinary call is answered by a node whose listener cannot connect, and the node says that it is degraded",
      "many clients with the same request id in flight each get their own answer",
    ],
    [serverDatabase]: ["an ordinary call survives that all sessions of the database end while it waits"],
    [waitForSettlement]: [
      "no state on the way is taken for the outcome",
      "with every hint lost the outcome arrives within two seconds of the change",
    ],
    [serverProgress]: ["a call follows the worker that takes its task over, and its progress never goes back (C1.7)"],
  },
  "C2.1": {
    [verifyToken]: [
      "a good token names its principal with groups and scopes, and its end with what is tolerated",
      "a token with %s is refused",
      "an unsigned token is refused",
    ],
    [serverIdentity]: [
      "a good token is let in, also with the audience in a list",
      "%s is a 401 with a challenge, and nothing is written",
      "while the issuer is away the node answers 503, lets nobody in, and asks it once",
    ],
    [findTask]: ["a task belongs to its subject, whatever groups and scopes a later token carries"],
  },
  "C2.2": {
    [serverTasks]: [
      "revoking a grant hides tasks and artifacts at once, on every node",
      "without a grant a workspace answers like one that does not exist, and nothing is written",
      "a grant of a group works through the groups in the token",
      "a grant that only reads creates no task",
    ],
    [createTasks]: [
      "create is denied > with a grant that has expired",
      "create is denied > with a grant that was removed",
      "create is denied > for what the grant does not name: `run` writes nothing, `write` runs nothing",
    ],
    [findTask]: ["the owner needs a live grant to read, and `read` alone is enough"],
    [requestCancellation]: [
      "nothing is cancelled, and nothing is told, > for an owner whose grant was removed, has expired, or no longer covers the effect",
    ],
    [storeArtifact]: [
      "an artifact is not found > by who may not read in its workspace, in another workspace, under another name or digest",
    ],
    [updateTask]: ["answering needs to own the task and the right to submit it"],
    [repeatRequest]: ["the same key is > denied to a principal who may write no more"],
    [serverListen]: ["a revoked grant is heard of no more, on a stream that goes on for what is still granted"],
  },
  "C2.3": {
    [serverTasks]: ["an artifact is read in ranges by everybody with a grant in its workspace, and by nobody else"],
    [findTask]: ["an unknown task, a foreign one, and one of the same subject at another issuer are the same null"],
    [serverListen]: ["a listener hears of its own tasks only"],
  },
  "C2.4": {
    [serverTasks]: ["ids that are foreign, unknown, altered or no ids at all answer alike on every method"],
    [modernProtocol]: [
      "ids that are unknown, foreign, altered, revoked or no ids at all answer alike, and only a real one reaches the store",
    ],
    [listenProtocol]: ["ids that are foreign, unknown, altered, out of scope or no ids at all are left out without a word"],
    [jobTools]: ["jobs that are unknown, foreign, malformed, expired or elsewhere answer alike (C2.4)"],
  },
  "C2.5": {
    [toolService]: ["a credential that may only read can look at its earlier write and cannot cancel it"],
    [modernProtocol]: ["a token without the scopes is told all that the operation needs, over HTTP too"],
    [jobTools]: ["cancelling a write takes the scopes of its operation, and looking at it does not (C2.5)"],
    [taskInput]: ["resuming a write takes the scopes of its operation, and looking at it does not (C2.5)"],
  },
  "C2.6": {
    [sandbox]: ["one child runs many operations, one after the other"],
    [childFaults]: ["what an operation leaves behind does not run in the middle of the next attempt"],
    [bindJournal]: [
      "a grant to write that was withdrawn meanwhile (C2.6) > keeps every plan from being bound",
      "a grant to write that was withdrawn meanwhile (C2.6) > is found in the groups that the owner's token named",
    ],
    [transaction]: ["a plan whose owner may no longer write in the workspace is not carried out (C2.6)"],
    [writerDisturbed]: ["a worker is killed before it touched anything, and the owner may no longer write: nothing is changed"],
  },
  "C2.7": {
    [errors]: ["%s is %i over HTTP %i"],
    [modernProtocol]: ["a fault of ours is answered with a reference that the log has, and with nothing else of it"],
    [serverHttp]: ["%s is refused and never a fault of ours"],
    [malformed]: ["%s is answered with -32602 on the request, by the name of the member, and nothing is written"],
  },
  "C3.1": {
    [handles]: ["the form of a handle is pinned", "a handle is unknown to %s"],
  },
  "C3.2": {
    [handles]: [
      "changing, adding or leaving out any character gives no task",
      "every spelling of the signature but one is refused",
      "a signature does not move to another workspace or task",
    ],
  },
  "C3.3": {
    [handles]: ["rotating keeps older handles alive while their key is listed, and new ones are signed with the first"],
    [seals]: ["knows its own seal, whichever key made it (C3.3)"],
    [requestKeys]: ["a receipt outlives the key that sealed it, as long as that key still verifies (C3.3)"],
    [rounds]: ["any node of the service continues a round, also after its keys were rotated"],
  },
  "C3.4": {
    [hoi4Arguments]: [
      "no tool of the pack has an argument for a transaction or a plan, and none takes arguments that it does not list",
      "a rewrite that names its %s is refused and nothing is created",
      "the same rewrite without it is admitted",
    ],
  },
  "C4.1": {
    [requestKeys]: [
      "a keyed write of a client that declares tasks is a task, and the operation never sees the key (C4.1)",
      "a write that only runs as a task needs a key, and the extension before that",
      "a key that is %s is refused by its name before anything is written",
      "256 characters of any script are a key",
    ],
    [modernProtocol]: ["declaring the extension sends no write into the background"],
  },
  "C4.2": {
    [repeatRequest]: [
      "the same key is > another request for another principal, in another workspace, and where the workspace has moved to",
    ],
    [serverWrites]: ["a key is another one for another principal", "a receipt that carries the seal of another one is not believed"],
    [requestKeys]: ["the address of a read names its input with defaults, its version and its owner, and an operation may have none"],
  },
  "C4.3": {
    [sameKey]: ["two hundred identical keyed writes at once, spread over three nodes, are one task that runs once"],
    [serverWrites]: ["200 identical keyed writes at two nodes at once, as tasks and as calls, are executed once and answered alike (C4.3)"],
    [repeatRequest]: [
      "the same key with the same request > is one task for 200 requests at once on four nodes, and one of them has created it",
    ],
    [requestKeys]: ["the same key with the same request returns the same task, whatever retention is asked for (C4.3)"],
  },
  "C4.4": {
    [sameKey]: ["two hundred writes under one key that differ in a byte are one request that succeeds, and conflicts"],
    [serverWrites]: ["of 200 keyed writes with one key and two inputs, those of one input succeed and the others conflict (C4.4)"],
    [repeatRequest]: ["the same key is > a conflict for another operation, version or input, and changes nothing"],
  },
  "C4.5": {
    [serverWrites]: ["an exact repeat after the result has expired shows it again and runs nothing, and a conflict shows nothing (C4.5)"],
    [repeatRequest]: [
      "the same key with the same request > returns what became of it: the running task, and each kind of outcome",
      "an outcome whose time has passed > is not renewed by a look, by a conflict, or by a repeat while it is visible",
    ],
    [expireTasks]: ["a task with a receipt stays with its artifacts, and a repeat shows it again"],
  },
  "C4.6": {
    [repeatRequest]: ["an outcome whose time has passed > is shown again when it is %s, for the time that is asked for now"],
  },
  "C4.7": {
    [requestKeys]: [
      "an ordinary call shares the receipt: a repeat of a finished write answers at once (C4.7)",
      "an ordinary repeat of a write that is under way waits for the same task",
    ],
    [serverWrites]: ["200 identical keyed writes at two nodes at once, as tasks and as calls, are executed once and answered alike (C4.3)"],
  },
  "C4.8": {
    [reuse]: [
      "an identical read of unchanged files has the first one's result, artifacts included, without running",
      "the read is done again when %s",
      "a result that was made while the files changed is good for its own task, and for no other",
      "a result that was changed in the store is made again, and operators are told",
      "a result whose seal another service made is not believed",
    ],
    [joinTask]: ["an identical read > of many at once on four nodes is one task with one job, and everybody who waits is counted"],
    [requestKeys]: ["identical reads of one principal meet in one task, and others do not (C4.8)"],
  },
  "C5.1": {
    [transitions]: [
      "the task machine > never leaves a terminal status (C5.1)",
      "the task machine > answers %s in every phase as it was decided",
    ],
    [attemptMachine]: ["Postgres and the in-memory store judge every sequence of attempts alike"],
    [requestMachine]: ["Postgres and the in-memory store answer every sequence of requests alike"],
    [settleAttempt]: [
      "a result > ends the task once: one status, one terminal event, no mutex row, an attempt that succeeded",
      "settlement against > itself, sent twice: one of them settles",
    ],
    [claimAttempt]: ["of many claimers of a task exactly one wins, every time"],
    [attempts]: ["duplicate wakes run a task once"],
    [taskJson]: ["only a terminal task has an outcome"],
  },
  "C5.2": {
    [claimAttempt]: [
      "a claim hands over the task as it was created, and a lease by the database's clock",
      "each claim of a task gets a larger token",
    ],
    [renewLeases]: ["a renewal is refused > for an older token, another worker, a task without lease, and a task that is over or unknown"],
    [settleAttempt]: [
      "a worker that was paused past its lease > changes nothing after another one claimed the task",
      "a worker that was paused past its lease > changes nothing under the token of another worker",
      "a worker that was paused past its lease > changes nothing of a task that is %s, and neither does anybody else",
    ],
    [workerPaused]: [
      "a worker that was paused past its lease changes nothing when it wakes: one terminal state, one terminal event",
      "a worker that wakes while its successor is at work disturbs nobody",
      "a worker that was paused goes on with new work",
    ],
    [saveCheckpoint]: ["a save in whose way a take-over is finds its token old, and keeps nothing"],
  },
  "C5.3": {
    [leaseKeeper]: [
      "without an answer, trust ends before the lease that the claim granted",
      "an answer that came late counts from when its renewal was sent",
      "the clock on the wall may jump: only the monotonic one counts",
    ],
    [databaseAway]: [
      "when renewals vanish, the child is gone before its lease can be taken by another worker",
      "a worker whose connections are all reset keeps its attempt and settles it",
    ],
  },
  "C5.4": {
    [workerKilled]: ["a task whose worker is killed is claimed again within its lease and two seconds, and finishes"],
    [queueRepair]: ["a job that a dead worker has locked does not keep its task from running"],
    [reapLeases]: ["only leases that have expired by the database's clock are reaped"],
  },
  "C5.5": {
    [drain]: [
      "an attempt that ends before the drain's deadline is not disturbed",
      "an attempt that outlasts the drain is interrupted at no cost, deaf or not: $deaf",
      "an interrupted task is taken up by another worker without waiting for a lease",
      "leases are renewed while a drain waits",
    ],
    [workerSignalled]: ["%s drains: the attempt is interrupted at no cost, the exit code is 0, and no child is left"],
    [workerKilled]: ["a task whose workers keep dying fails after its budget, with that reason"],
    [attempts]: [
      "an operation whose process dies is replaced twice, then its task fails with that reason",
      "a task of a newer version is handed on at no cost",
      "a task of an older version fails when no worker has that version any more",
    ],
    [settleAttempt]: [
      "the retry budget > pays two replacements and then the task fails with the last reason",
      "the retry budget > is not touched by interruptions, however many",
    ],
    [verdictQueries]: ["after the death of $of > the same checkpoint is not tried twice"],
    [memory]: ["an attempt that dies is replaced twice, also when each one has come further than the last"],
    [queueAway]: ["a drain gives back the jobs at hand without an error"],
    [killedAtCheckpoint]: ["a task whose workers die twice at the same checkpoint is not tried a third time, and says so"],
    [writerAskedToStop]: [
      "a worker that drains ends by itself once its write has come to rest",
      "a write that a drain meets while it is bound is carried out by the next worker",
    ],
    [transaction]: ["a write whose time is over while it waits for the plan of another one is tried again, and does not fail"],
    [stagedByKilled]: ["a staged result that nobody believes does not let an operation crash without end"],
  },
  "C5.6": {
    [queueRepair]: [
      "with every job deleted by hand, all tasks are run, each once, by two workers at once",
      "tasks that a busy worker has fetched are soon run by an idle one",
      "a worker registers itself again when its row is gone",
    ],
    [queueAway]: [
      "a worker whose queue could not take note of finished jobs fetches the next ones and can still be drained",
      "a worker that holds fetched jobs when its queue breaks lives on",
    ],
    [serverTasks]: ["an ordinary call is answered although every hint is lost"],
    [rewakeTasks]: ["with every row of the queue deleted, all queued work gets a job again"],
    [serverListen]: ["with every hint lost a change arrives within the interval in which a node looks by itself"],
  },
  "C5.7": {
    [findTask]: ["reading changes nothing"],
    [taskTimes]: [
      "a look at a task changes nothing, whoever looks and however often",
      "the time of the last change moves with each change and with nothing else, and the creation's never",
      "a node with a wrong clock writes the database's times",
    ],
  },
  "C6.1": {
    [stageResult]: [
      "a staged result > is nobody's to see until it is published, and then exactly what was staged",
      "a staged result > is published by another worker when the one that staged it is lost, with its artifacts linked",
    ],
    [verdictQueries]: [
      "after the death of $of > a staged result waits for whoever publishes it, whatever the budget, and costs none of it",
    ],
    [stagedByKilled]: [
      "killed between staging and publishing: another worker publishes the very same result, and does not run the operation",
      "killed before staging: the operation is run again",
      "a staged result that was changed in the store is not published: the operation is run again",
    ],
  },
  "C6.2": {
    [memory]: [
      "an attempt that follows a crash begins at the last checkpoint",
      "a step that was done is not done again by the next attempt, nor twice by one",
      "steps and checkpoints of other files than there are now are not handed out",
      "a %s that was changed in the store is not believed, and operators are told",
      "a value that cannot be kept as it is (%s) is refused in the handler, with the reason",
      "a workspace that is not there is no reason to fail",
    ],
    [killedAtCheckpoint]: ["a task whose worker died once at its checkpoint goes on from there with another worker"],
  },
  "C6.3": {
    [verdictQueries]: [
      "after the death of $of > a staged result goes with the task that was to be cancelled",
      "after the death of $of > a write that is %s is taken up again, whatever the budget, at no cost, and a wish to cancel is kept for it",
    ],
    [workerKilled]: ["a task that was cancelled when its worker died becomes cancelled instead of running again"],
    [writerKilled]: ["killed after the commit: the task gets the plan's result, and nothing is planned or applied again"],
    [claimAttempt]: ["an expired lease is not taken over by a claim, only by the reaper"],
  },
  "C6.4": {
    [hoi4Rewrite]: ["a rewrite of a file that is another one by now is a completed task that tells the hash, and binds nothing"],
    [focusRewrite]: ["a file that is another one > than the changes were thought out for is an error that tells its hash"],
  },
  "C7.1": {
    [bindJournal]: [
      "a bound plan > is read by the next attempt as it was bound: every byte, absent files, the result's text, and the claim says where it stands",
    ],
    [transaction]: [
      "a plan replaces, creates and removes files together, and its result is the task's",
      "a plan that changes nothing is committed without a journal",
      "a plan is refused that names a file %s: the operation is told why, and nothing is changed",
      "a second plan of one run is refused, and the first one's result stands",
      "another name of a file keeps its bytes: it is replaced, not written into",
    ],
    [writerKilled]: ["killed before binding: nothing is changed, and the next attempt makes a plan of its own"],
    [hoi4Rewrite]: [
      "a rewrite changes the file of the mod and keeps what it has changed as artifacts",
      "a rewrite that is blocked binds nothing and leaves the file alone",
    ],
  },
  "C7.2": {
    [writerKilled]: [
      "killed %s: another worker carries out the very same plan",
      "killed as soon as the last file is seen in its place: the plan is committed, whether its commit was on its way or not",
      "killed when its commit is on its way: the commit stands, and the files are not touched again",
      "killed after the commit: the task gets the plan's result, and nothing is planned or applied again",
      "killed while its files are put back, for the sake of one that %s: another worker puts back the rest, and goes on with nothing",
      "killed again and again with the same plan: after three recoveries somebody has to look at it",
      "killed in the middle of a plan that was given %s in the store since: it is not believed",
    ],
    [transaction]: ["a task whose plan is committed has the plan's result, also when its operation goes on to %s"],
    [verdictQueries]: [
      "after the death of $of > an unresolved write fails as such, also when it was to be cancelled",
      "after the death of $of > a write that has begun is taken up before anything that waits longer",
    ],
    [writerDisturbed]: [
      "a file that was replaced already changes before the commit: nobody can say what is right, and the task says so",
      "a file changes while a plan waits to be bound, and the worker is killed then: nothing was begun, and it is a conflict",
      "a worker is killed, and a file that it may have replaced is changed: ours are put back, and the rest is left for somebody to look at",
    ],
    [writerAskedToStop]: ["a write that loses its worker's database in the middle is finished by whoever finds it"],
  },
  "C7.3": {
    [transaction]: [
      "a file that is not what the plan was made from is a conflict, and nothing is bound or changed",
      "writes below one root take turns, however many come at once",
    ],
    [focusRewrite]: ["a file that is another one > when it comes to writing is left to whoever changed it"],
    [hoi4Rewrite]: [
      "what somebody else writes between reading and writing stays",
      "of several rewrites of the same file one is applied, and the others say that they came too late",
    ],
    [writerDisturbed]: [
      "%s changes in the middle of a write: it is not overwritten, all others are put back, and the caller learns which one",
      "a worker is killed, and a file that it cannot have come to is changed: ours are put back, and the plan is a conflict",
      "a worker is killed before it touched anything, and a file of the plan is changed: the plan is a conflict",
    ],
  },
  "C7.4": {
    [recoverPlan]: [
      "an attempt that was permitted to replace %s, and stopped until another one had undone its plan, changes nothing any more",
    ],
    [moveJournal]: ["an attempt that is replaced while it asks whether it may still write is told no"],
    [bindJournal]: ["a bind in whose way a take-over is finds its token old, and binds nothing"],
    [transaction]: ["a read has no transaction, and its process no way to write"],
    [writerPaused]: ["a worker that was paused after it was permitted to replace a file touches nothing when it wakes: that file is %s"],
  },
  "C8.1": {
    [transitions]: [
      "the task machine > accepts a cancellation in every phase (C8.1), and settles at once only what has not started (C8.2)",
    ],
    [serverTasks]: ["a running task shows that its cancellation is wanted until its worker has settled it"],
    [modernProtocol]: ["cancelling answers an empty acknowledgement, also twice and after the end"],
    [requestCancellation]: ["asking again changes nothing, not even the time of the wish"],
  },
  "C8.2": {
    [cancellation]: [
      "a queued task is cancelled without starting, with no worker alive",
      "a running operation that heeds its signal is cancelled as soon as the hint arrives",
      "without any hint, the next heartbeat brings the cancellation",
      "a running operation that ignores the signal (%s) is killed and cancelled",
    ],
    [serverTasks]: ["cancelling a queued task through another node ends the ordinary view of it at once"],
    [input]: ["a parked task that is cancelled ends at once and drops its questions"],
  },
  "C8.3": {
    [cancellation]: ["an operation that completes in spite of the cancellation is completed"],
    [settleAttempt]: [
      "a result > wins over a cancellation that came while it was made",
      "settlement against > a request to cancel that comes second: the result stands",
      "settlement against > a request to cancel that comes first: an interruption does not start the task again",
    ],
  },
  "C8.4": {
    [transaction]: [
      "a cancellation after the commit does not undo it, and the task says what happened",
      "a write that is cancelled while it waits for its turn has changed nothing",
    ],
    [writerKilled]: [
      "killed in the middle of a task that was cancelled: every file is put back, and the task is cancelled",
      "killed after binding, in a task that was cancelled: the plan is never begun, and the task is cancelled",
    ],
    [settleWrite]: [
      "a write whose journal is > $state ends as $ending: $answer",
      "a write whose journal is > $state cannot end as $ending, and goes on",
    ],
    [writerAskedToStop]: [
      "a write that is %s between two files comes to its end, and the task says what happened",
      "a write that is cancelled before it is bound changes nothing, and is cancelled",
    ],
  },
  "C8.5": {
    [serverTasks]: ["a client that hangs up cancels the task of its ordinary call, whichever worker holds it"],
    [modernProtocol]: [
      "closing the connection of an ordinary call cancels its task",
      "closing the connection that asked for a task cancels nothing",
    ],
    [toolService]: ["a call whose caller left before it was admitted creates nothing"],
    [abandonCall]: [
      "when the only call goes, a queued task is cancelled and a running one learns of the wish",
      "while another call waits the task goes on, untouched",
      "a task that a client has a handle of goes on, however many calls go",
    ],
    [serverProgress]: [
      "a client that hangs up in the middle of its progress cancels its task, whichever process holds it",
      "a client that hangs up before there is any progress cancels its task",
      "a client that hangs up after it was handed a task cancels nothing",
    ],
  },
  "C8.6": {
    [serverTasks]: ["with no worker left, a node settles the cancelled task of a dead one (C8.6)"],
    [workerKilled]: ["a task that was cancelled when its worker died becomes cancelled instead of running again"],
  },
  "C9.1": {
    [input]: [
      "a question ends the attempt and its process, and its answer starts another one that goes on",
      "one call may ask in every way there is, and the next call asks again",
      "what was answered before there was a task is not asked",
      "no question is no wait",
      "an operation asks only what its manifest says, so that clients are warned before there is a task",
      "%s is refused in the handler, and nobody is asked",
      "a question that was answered before there was a task needs no mention in the manifest",
    ],
    [suspendAttempt]: [
      "an attempt that asks > parks its task: the questions are there, nobody holds or wakes it, and the budget is as it was",
    ],
    [suite]: [THE_SUITE],
    [serverInput]: [
      "an ordinary call is asked by one node and goes on at another, and leaves one task behind",
      "the official client answers the questions of an ordinary call by itself, round by round",
    ],
    [goneWhileParked]: ["a task that waits for its client outlives its worker, needs none to be answered, and is resumed once"],
  },
  "C9.2": {
    [input]: [
      "the last answer resumes the task once, also when two nodes take answers at the same moment",
      "a key that is asked again with %s is a mistake of the operation",
    ],
    [updateTask]: [
      "a parked task > ignores unknown keys, answers of another kind, and keys that no database keeps, and is not changed by them",
      "a parked task > counts the first of several answers to one key, in one request and in several",
      "answers from several nodes at the same moment > to all keys, many times over, let the task go on once",
    ],
    [taskInput]: ["answers may come one by one, and the last one lets the task go on (C9.2)", "%s is acknowledged and ignored"],
    [suite]: [THE_SUITE],
    [serverInput]: ["a task asks for everything that MCP lets a server ask, and takes the answers from two nodes at once"],
  },
  "C9.3": {
    [taskInput]: ["a client that cannot be asked all that is open sees none of it, and nothing changes (C9.3)"],
    [listenProtocol]: ["a question is kept from a client that did not say it can answer it, and the outcome is not (C9.3)"],
  },
  "C9.4": {
    [expireTasks]: ["an ended task goes some minutes after its time, with every row that belongs to it"],
    [updateTask]: ["a parked task > is cancelled at once, its open questions with it, and takes no answer any more"],
    [suspendAttempt]: ["an attempt that asks > leaves nothing to claim, to reap or to wake until it is answered"],
    [serverInput]: ["a client that never comes back with its answers leaves nothing parked"],
  },
  "C10.1": {
    [publisher]: ["no transaction of a task sends a notification on the channel"],
    [serverListen]: ["a change through any process reaches the listeners of every node, and each of them once"],
    [taskFeed]: [
      "each change is read anew and sent once, until the task is over",
      "what may no longer be seen is told no more, without a word, and for good",
    ],
    [listenClient]: ["the official client hears through a load balancer what a worker does with its task, to the result"],
  },
  "C10.2": {
    [hub]: ["without a hint the wait ends after its time-out, so that the reader looks anyway"],
    [serverTasks]: ["an ordinary call is answered although every hint is lost"],
    [serverListen]: ["with every hint lost a change arrives within the interval in which a node looks by itself"],
    [listenerCut]: ["while the listener stays away, a change is told within the fifteen seconds in which a node looks by itself"],
  },
  "C10.3": {
    [listenProtocol]: [
      "the stream begins with what is honoured, tells what changes, and ends with its answer when all is told",
      "ids that are foreign, unknown, altered, out of scope or no ids at all are left out without a word",
      "a task that is over is told at once, and so is an open question",
    ],
    [serverListen]: ["whoever subscribes while a task ends is never left without its end"],
  },
  "C10.4": {
    [listener]: [
      "a listener whose backend was terminated comes back, and asks to look at what it missed",
      "a connection whose packets vanish is found out and replaced, though no socket ever closes",
    ],
    [serverListen]: [
      "what changes while the node's listener is cut off arrives when it is back",
      "a silent stream is kept alive by comments",
      "a node that is stopped ends its streams with their answers, long before its drain would be over",
      "a client that hangs up leaves its place to the next",
      "a list that changed on one node is told on every other",
      "streams that are open keep nothing of how much was sent to open them",
    ],
    [places]: [
      "one principal cannot take the places of the others, and a place that is left counts once",
      "the tasks of all streams together are bounded",
      "one principal cannot have its streams follow all the tasks that may be followed",
    ],
    [eventStream]: ["a large message leaves no room until its reader has taken enough of it, and arrives whole"],
    [listenerCut]: [
      "a listener whose packets vanish costs its streams time and no state: they learn all of it when it is back",
      "a listener that is terminated a hundred times while tasks end under it loses none of their ends",
    ],
  },
  "C10.5": {
    [publisher]: ["a steady stream of changes is at most one notification for each ten milliseconds, and loses none"],
    [leaseKeeper]: ["progress is stored at once, and then at most twice a second with the newest value"],
    [serverListen]: [
      "a reader that takes nothing is cut off while the others go on, and no commit waits for it",
      "progress arrives with its newest value, thinned, and never twice the same",
    ],
  },
  "C11.1": {
    [serverProgress]: [
      "a call with the token %j becomes a stream of its progress, with its answer at the end",
      "a call without a token gets no progress, whatever its operation reports",
      "%j is no token: the call is refused and nothing is created",
    ],
    [withProgress]: [
      "a silent call with a token shows that it is alive long before an idle connection is cut, and leaves no timer",
      "after the call's %s none of its timers is left",
    ],
    [callProgress]: [
      "what is not known is left out, and what does not grow is no news",
      "after the end nothing is sent and no timer is left",
    ],
  },
  "C11.2": {
    [serverProgress]: [
      "a call that says nothing of itself stays JSON",
      "a call that is handed over as a task reports nothing",
      "a failure after the response became a stream is its last message",
    ],
    [attempts]: ["progress is visible while the operation runs, whatever text it carries"],
  },
  "C12.1": {
    [retention]: ["%s (C12.1)", "%j is no retention (C12.1)"],
    [findTask]: [
      "a finished task is visible until its lifetime has passed since its creation, a live one however long it takes",
      "a task that ends after its lifetime, or shortly before, is visible for half a minute more (C12.1)",
    ],
    [keptFor]: ["who wants to find the result for %j ms is told %i (C12.1)", "a retention of %j is refused before anything is created"],
  },
  "C12.2": {
    [forgetting]: ["a %s to which nobody says anything forgets what has ended and is over its time"],
    [expireTasks]: [
      "an ended task goes some minutes after its time, with every row that belongs to it",
      "no more than asked for go at a time, those first that are overdue longest",
      "many nodes at once remove each task once and do not wait for each other",
      "a task with a receipt stays with its artifacts, and a repeat shows it again",
    ],
  },
  "C13.1": {
    [busySlots]: ["with every slot of every worker taken, jobs are inspected and cancelled at once"],
    [jobTools]: [
      "a job is reported from the queue to its question, for callers that declare tasks or not",
      "a completed job answers with the original result, byte for byte",
      "inspecting and cancelling create no task and start nothing (C13.1)",
    ],
  },
  "C14.1": {
    [childFaults]: ["a child may read its code and the declared roots, and nothing else"],
    [workspaceView]: ["links are followed to what lies inside, and to nothing else", "the path %s leads outside"],
    [reach]: ["a worker without the root of a workspace never claims its tasks, even when it is woken for them"],
    [sandbox]: [
      "an operation in another version than the child has is not run",
      "input that the operation's schema refuses never reaches its handler",
    ],
    [attempts]: ["a job that names no task is forgotten"],
    [serverTasks]: ["arguments %j are refused and nothing is written"],
  },
  "C14.2": {
    [childFaults]: [
      "memory outside of the heap is limited too",
      "a blocked event loop is ended by the time limit of the parent",
      "a child may start no process, and send no signal to its worker",
    ],
    [attempts]: ["the environment that an operation sees holds no database"],
    [sandbox]: ["a child has nothing of the worker's environment"],
    [workerKilled]: ["the children of a killed worker end with it, also one that %s"],
  },
  "C14.3": {
    [childFaults]: [
      "process.abort() costs its own attempt",
      "process.exit() costs its own attempt, whatever the code",
      "a heap that outgrows its limit costs its own attempt, and the reason is kept for operators",
      "a flood of %s ends its own attempt and is not kept in memory",
      "forging %s kills the forger and fails its own attempt",
      "a message of the right run but the wrong shape (%s) is not believed",
      "a result of $bytes bytes, where 65536 are allowed, is $kind",
    ],
    [workerKilled]: ["a task whose workers keep dying fails after its budget, with that reason"],
  },
  "C15.1": {
    [attemptMachine]: ["Postgres and the in-memory store judge every sequence of attempts alike"],
    [requestMachine]: ["Postgres and the in-memory store answer every sequence of requests alike"],
    [memoryManager]: [
      "the in-memory store > runs a task from its creation to its result",
      "room in the in-memory store (C15.1) > is 1,024 tasks; finished ones make room, live ones never",
      "room in the in-memory store (C15.1) > shows a finished task until its lifetime has passed, at most an hour, and a live one for ever",
    ],
  },
};

export const beyondTheContract: Beyond = {
  "test/e2e/demo.test.ts": { reason: "how the demo behaves at a terminal; what it shows is proved by others", tests: "all" },
  "test/e2e/refusals.test.ts": { reason: "what the command line says to a mistake", tests: "all" },
  "test/e2e/up.test.ts": { reason: "the single-machine service of the command line", tests: "all" },
  "test/integration/hoi4-damaged-mod.test.ts": { reason: "what the HOI4 pack finds in damaged files", tests: "all" },
  "test/integration/hoi4-example-mod.test.ts": { reason: "what the HOI4 pack finds in the example mod", tests: "all" },
  "test/integration/hoi4-focus-files.test.ts": { reason: "how the HOI4 pack edits real focus trees", tests: "all" },
  "test/integration/hoi4-real-mods.test.ts": { reason: "what the HOI4 pack finds in real mods", tests: "all" },
  "test/property/clausewitz.test.ts": { reason: "how scripts of the game are read", tests: "all" },
  "test/integration/invariants.test.ts": { reason: "how tests look for rules that their database broke", tests: "all" },
  "test/conformance/clauses.test.ts": { reason: "keeps this list", tests: "all" },
  "test/conformance/verdict.test.ts": { reason: "how the findings of the official suite are judged", tests: "all" },
  [serverHttp]: {
    reason: "how a node meets HTTP that is no call",
    tests: [
      "%s is a 403 before the token is looked at",
      "two Host headers, or none, are refused",
      "an absolute request target does not replace the Host",
      "a call in chunks works like one of a declared length",
      "a request id of the caller is answered and logged",
      "a node with more requests in flight than it serves answers 503 at once, and serves again afterwards",
      "connections that send nothing do not hold up the end of a node",
    ],
  },
  [serverProcess]: {
    reason: "how a node starts and ends as a process",
    tests: [
      "a draining node finishes the calls it has, takes no more, and ends with 0",
      "a second signal ends the process at once",
      "no log line of a node holds a token or a key",
      "a port in use is one line and exit code 2",
      "a database that nobody serves is one line and exit code 2, without its password",
      "a database without the schema is one line and exit code 2",
      "a pack that does not load is one line and exit code 2",
      "a configuration that cannot be used is one line and exit code 2",
    ],
  },
  [serverIdentity]: {
    reason: "how clients learn where tokens come from",
    tests: ["the challenge leads to the metadata, and the metadata to the issuer"],
  },
  [serverDatabase]: {
    reason: "what readiness says to a load balancer",
    tests: ["a database that became read-only makes the node not ready and calls come back later, until it can be written again"],
  },
  [databaseAway]: {
    reason: "what a worker outlives without its database",
    tests: [
      "%s that is ready while the database is away is stored when it comes back",
      "an artifact that meets the database's absence is stored when it comes back, at no cost",
    ],
  },
  [workerSignalled]: {
    reason: "how a worker starts and ends as a process",
    tests: ["a second signal ends the worker at once, in the middle of its drain", "a worker %s says why in one line and exits with 2"],
  },
  [drain]: { reason: "how a worker is stopped from inside", tests: ["stopping twice is stopping once"] },
  [reach]: {
    reason: "where tasks may run",
    tests: [
      "a task of a pool that no worker serves is never claimed, operators see it, and a worker of its pool runs it",
      "a worker without any root starts, waits, and claims nothing",
      "a worker that has drained no longer counts among those that can",
    ],
  },
};

export { accessGrant, workspace } from "./access.ts";
export { artifact, artifactBlob, taskArtifact } from "./artifacts.ts";
export { taskCheckpoint, taskStep } from "./checkpoints.ts";
export { journalEntry, journalFile } from "./journal.ts";
export { receipt } from "./receipts.ts";
export { session, sessionCall, sessionQuestion } from "./sessions.ts";
export { attempt, liveTask, task, taskEvent, taskInput, taskResult } from "./tasks.ts";
export { worker } from "./workers.ts";

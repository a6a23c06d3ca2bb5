export { openDatabase, openQueuePool, type Database, type DatabaseOptions } from "./pool.ts";
export { createPostgresTaskManager } from "./task-manager.ts";
export { createPostgresAttemptLedger } from "./attempt-ledger.ts";
export { createPostgresWriteJournal } from "./write-journal.ts";
export { createTaskReader } from "./reads/find-tasks.ts";

export { storeArtifact, type ArtifactUpload, type StoreArtifactAnswer } from "./writes/store-artifact.ts";
export { readArtifact, type ArtifactBytes, type ArtifactRequest } from "./reads/read-artifact.ts";

export { addWorkspace, type NewWorkspace } from "./writes/add-workspace.ts";
export { listAllWorkspaces, listWorkspaces, type PlacedWorkspace } from "./reads/list-workspaces.ts";
export { addGrant, removeGrant, type Grant, type GrantMember } from "./writes/change-grants.ts";
export { listGrants } from "./reads/list-grants.ts";

export { forgetWorker, registerWorker, touchWorker, type WorkerDescription } from "./writes/register-worker.ts";
export { rewake } from "./writes/rewake-tasks.ts";
export { expireTasks } from "./writes/expire-tasks.ts";
export { endUnanswered } from "./writes/end-unanswered.ts";
export { createSessionStore, type SessionStore } from "./session-store.ts";
export { expireSessions } from "./writes/expire-sessions.ts";
export type { StoredSession } from "./writes/meet-session.ts";
export type { StoredCall, StoredQuestion } from "./writes/take-over-call.ts";
export { listUnclaimableTasks, type UnclaimableTask } from "./reads/list-unclaimable-tasks.ts";

export { createListener, type Listener, type ListenerOptions } from "./listener.ts";
export { createPublisher, type Publisher } from "./publisher.ts";

export { explainConnectionError, explainStartFailure } from "./connection-error.ts";
export { assertSchema } from "./assert-schema.ts";
export { migrate, MigrationError, type MigrateOptions, type MigrateResult } from "./migrate.ts";

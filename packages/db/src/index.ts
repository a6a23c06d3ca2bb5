import type {
  Action,
  ArtifactAddress,
  AttemptLedger,
  AttemptRef,
  Principal,
  TaskId,
  TaskManager,
  Telemetry,
  WorkerId,
  WorkspaceId,
} from "@holdfast/core";
import type pg from "pg";

/** Connections to one Postgres: `pool` for everything, `reserved` for renewals and settlements, which must not queue behind it. */
export interface Database {
  readonly pool: pg.Pool;
  readonly reserved: pg.Pool;
  /** Ends all connections when their statements are done. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** As operators see it in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Connections of `pool`; `reservedConnections` (2 unless given) come on top. */
  readonly maxConnections: number;
  readonly reservedConnections?: number;
  /** Told when an idle connection dies or a hint cannot be sent; nothing needs to be done about either. */
  readonly onError: (error: Error) => void;
}

export interface WorkerDescription {
  readonly id: WorkerId;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly pools: readonly string[];
  readonly roots: readonly string[];
  readonly operations: readonly string[];
  readonly slots: number;
}

export interface ArtifactBytes {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly totalBytes: number;
  readonly mediaType: string;
  readonly name: string;
}

export interface WorkspaceView {
  readonly id: WorkspaceId;
  readonly title: string | null;
  readonly root: string;
  readonly path: string;
}

export interface Grant {
  readonly workspaceId: WorkspaceId;
  readonly issuer: string;
  /** A subject of the issuer, or a group that the issuer's tokens carry. */
  readonly memberKind: "principal" | "group";
  readonly member: string;
  readonly actions: readonly Action[];
  readonly expiresAt: Date | null;
}

export interface Listener {
  /** Returns at once; the connection is made, kept and made again until `stop`. */
  start(): void;
  stop(): Promise<void>;
  /** `isolated`: hints do not arrive at the moment, polling carries on alone. */
  readonly state: "stopped" | "isolated" | "up";
}

export interface Publisher {
  /** Marks a change that is already committed; never waits and never throws. */
  publish(taskId: TaskId): void;
  /** Sends what is left, with a deadline. */
  stop(): Promise<void>;
}

export declare function openDatabase(options: DatabaseOptions): Database;
export declare function createPostgresTaskManager(database: Database): TaskManager;
export declare function createPostgresAttemptLedger(database: Database): AttemptLedger;

export declare function storeArtifact(
  database: Database,
  attempt: AttemptRef,
  file: { readonly bytes: Uint8Array; readonly name: string; readonly mimeType: string; readonly title?: string },
): Promise<{ readonly kind: "stored"; readonly address: ArtifactAddress; readonly size: number } | { readonly kind: "refused" }>;

/** Null when there is no such artifact or no grant to read it. `length` is an upper bound. */
export declare function readArtifact(
  database: Database,
  request: { readonly principal: Principal; readonly address: ArtifactAddress; readonly offset: number; readonly length: number },
): Promise<ArtifactBytes | null>;

/** The workspaces in which the principal may do anything at all. */
export declare function listWorkspaces(
  database: Database,
  principal: Principal,
): Promise<readonly { readonly id: WorkspaceId; readonly title: string | null; readonly actions: readonly Action[] }[]>;
/** All of them, for operators. */
export declare function listAllWorkspaces(database: Database): Promise<readonly WorkspaceView[]>;
/** `exists`: one of that name is there, and was not changed. */
export declare function addWorkspace(
  database: Database,
  workspace: { readonly id: WorkspaceId; readonly title?: string; readonly root: string; readonly path: string },
): Promise<"added" | "exists">;
/** Replaces an earlier grant of the same member. */
export declare function addGrant(database: Database, grant: Grant): Promise<"granted" | "workspace_unknown">;
export declare function removeGrant(database: Database, grant: Omit<Grant, "actions" | "expiresAt">): Promise<boolean>;
export declare function listGrants(database: Database, workspaceId?: WorkspaceId): Promise<readonly Grant[]>;

export declare function registerWorker(database: Database, worker: WorkerDescription): Promise<void>;
/** False when the worker is not registered (any more). */
export declare function touchWorker(database: Database, id: WorkerId): Promise<boolean>;
export declare function forgetWorker(database: Database, id: WorkerId): Promise<void>;

/** Adds a job again for queued tasks whose wake seems lost; says which. Safe on every worker at once. */
export declare function rewake(
  database: Database,
  options: { readonly limit: number; readonly afterMs: number },
): Promise<readonly TaskId[]>;

export declare function createListener(options: {
  readonly url: string;
  readonly applicationName: string;
  /** Sends the pings that must come back over the listening connection. */
  readonly database: Database;
  /** `all`: hints may have been missed; look at everything that is waited for. */
  readonly onHint: (taskIds: readonly TaskId[] | "all") => void;
  readonly telemetry: Telemetry;
  readonly pingEveryMs?: number;
  readonly pingDeadlineMs?: number;
}): Listener;
export declare function createPublisher(database: Database): Publisher;

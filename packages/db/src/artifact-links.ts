import { AppError, type StoredArtifact, type TaskId } from "@holdfast/core";
import { brokenConstraint } from "./storage-error.ts";

/**
 * A data-changing query that links artifacts to one task. `tasks` is the name of a query with the columns `id` and `workspace_id`;
 * digests and names are parameters, as `artifactParameters` gives them. An artifact that is not stored breaks a foreign key.
 */
export function linkQuery(tasks: string, digests: string, names: string): string {
  return `
  insert into holdfast.task_artifact (task_id, workspace_id, sha256, name)
  select o.id, o.workspace_id, decode(s.sha256, 'hex'), s.name
  from ${tasks} as o
  cross join unnest(${digests}::text[], ${names}::text[]) as s (sha256, name)
  on conflict do nothing
`;
}

export function artifactParameters(artifacts: readonly StoredArtifact[]): readonly [digests: string[], names: string[]] {
  return [artifacts.map(({ sha256 }) => sha256), artifacts.map(({ name }) => name)];
}

/** As the columns `artifacts` keep them. */
export function artifactsText(artifacts: readonly StoredArtifact[]): string {
  return JSON.stringify(artifacts.map(({ sha256, name }) => ({ sha256, name })));
}

/** The error by its name when the statement named an artifact that is not stored, and as it is otherwise. */
export function missingArtifact(error: unknown, taskId: TaskId): unknown {
  if (brokenConstraint(error)?.startsWith("task_artifact_") !== true) return error;
  return new AppError("operation_output_invalid", `task ${taskId} has a result with an artifact that is not stored`, { cause: error });
}

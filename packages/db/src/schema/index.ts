export { accessGrant, workspace } from "./access.ts";
export { artifact, artifactBlob, taskArtifact } from "./artifacts.ts";
export { attempt, liveTask, task, taskEvent, taskResult } from "./tasks.ts";
export { worker } from "./workers.ts";

export { folderWorkspace } from "./folder-workspace.ts";
export { inspectEvents, type ArtifactGraph, type Inspected } from "./inspect-events.ts";
export { memoryWorkspace } from "./memory-workspace.ts";
export { rewriteFocuses } from "./rewrite-focuses.ts";

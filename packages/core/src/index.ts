export * from "./json.ts";
export * from "./access/principal.ts";
export * from "./access/workspace.ts";
export * from "./artifacts/artifact-link.ts";
export * from "./operations/tool-result.ts";
export * from "./operations/operation.ts";
export * from "./operations/context.ts";
export * from "./operations/pack.ts";

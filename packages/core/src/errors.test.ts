import { expect, it } from "vitest";
import { ERRORS } from "./errors.ts";

// Pins: what clients see of each fault. A change here is a change of the wire.
it.each([
  ["task_not_found", -32602, 200],
  ["workspace_not_found", -32602, 200],
  ["tool_not_found", -32602, 200],
  ["invalid_arguments", -32602, 200],
  ["artifact_not_found", -32602, 200],
  ["request_key_required", -32602, 200],
  ["request_key_conflict", -32602, 200],
  ["request_state_invalid", -32602, 200],
  ["header_mismatch", -32020, 400],
  ["capability_required", -32021, 400],
  ["unauthenticated", -32600, 401],
  ["insufficient_scope", -32600, 403],
  ["storage_unavailable", -32603, 503],
  ["overloaded", -32603, 503],
  ["internal", -32603, 500],
] as const)("%s is %i over HTTP %i", (code, rpcCode, httpStatus) => {
  expect(ERRORS[code]).toMatchObject({ rpcCode, httpStatus });
});

it("retries only what another attempt may heal", () => {
  const budgeted = Object.entries(ERRORS).filter(([, kind]) => kind.retry === "budget");
  expect(budgeted.map(([code]) => code)).toEqual(["operation_crashed", "operation_unknown", "worker_lost"]);
});

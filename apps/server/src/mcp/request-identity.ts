import {
  canonicalJson,
  type JsonObject,
  type JsonValue,
  type Operation,
  type Principal,
  type ReceiptRequest,
  type Seals,
  type StoredReceipt,
  type TaskId,
} from "@holdfast/core";
import { createHash } from "node:crypto";

/** A request that is about to become a task. */
export interface TaskRequest {
  readonly principal: Principal;
  readonly workspaceId: string;
  readonly operation: Pick<Operation, "name" | "version">;
  /** As the operation parsed it, with defaults filled in. */
  readonly input: JsonObject;
}

/**
 * Names a read by all that its answer depends on but the files, as SHA-256 in hexadecimal (contract 4.8). What the client answered
 * beforehand belongs to it.
 */
export function contentAddress({ principal, workspaceId, operation, input }: TaskRequest, answers: JsonValue): string {
  return digestOf([principal.issuer, principal.subject, workspaceId, operation.name, operation.version, input, answers]);
}

/** What a keyed request asks to be remembered, sealed so that no row can pass for it (contract 4.2). */
export function receiptFor(seals: Seals, request: TaskRequest, key: string, taskId: TaskId): ReceiptRequest {
  const inputSha256 = digestOf(request.input);
  const { name: operation, version: operationVersion } = request.operation;
  return { key, inputSha256, seal: seals.seal(PURPOSE, sealed(request, key, { operation, operationVersion, inputSha256, taskId })) };
}

/** Whether the receipt that stands for this key was written by one of us. */
export function isGenuineReceipt(
  seals: Seals,
  request: Pick<TaskRequest, "principal" | "workspaceId">,
  key: string,
  receipt: StoredReceipt,
): boolean {
  return seals.isGenuine(PURPOSE, sealed(request, key, receipt), receipt.seal);
}

const PURPOSE = "receipt";

function sealed(
  { principal, workspaceId }: Pick<TaskRequest, "principal" | "workspaceId">,
  key: string,
  { operation, operationVersion, inputSha256, taskId }: Omit<StoredReceipt, "seal">,
): readonly JsonValue[] {
  return [principal.issuer, principal.subject, workspaceId, key, operation, operationVersion, inputSha256, taskId];
}

/** Of the canonical JSON, so that the order of members names nothing else; lower-case hexadecimal. */
export function digestOf(value: JsonValue): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

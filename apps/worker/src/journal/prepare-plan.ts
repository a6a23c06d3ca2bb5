import { createHash } from "node:crypto";
import type { FileVersion, JournalFile } from "@holdfast/core";
import { PLAN_BYTES } from "../sandbox/frames.ts";
import type { ReceivedFile } from "../sandbox/operation-job.ts";
import type { PlanPlace } from "./plan-place.ts";
import { lookAt } from "./present-file.ts";

/** `rejected`: no such plan can be carried out here, and the message says why. Nothing is bound for either that or a conflict. */
export type PreparedPlan =
  | { readonly kind: "prepared"; readonly files: readonly JournalFile[] }
  | { readonly kind: "conflict"; readonly paths: readonly string[] }
  | { readonly kind: "rejected"; readonly message: string };

/** Compares a plan with the files as they are, and keeps what has to be changed, with the bytes before. None when all is as wanted. */
export async function preparePlan(place: PlanPlace, wanted: readonly ReceivedFile[]): Promise<PreparedPlan> {
  const [files, conflicts]: [JournalFile[], string[]] = [[], []];
  let bytesBefore = 0;
  for (const { path, expectedSha256, bytes } of wanted) {
    const present = await lookAt(place, path);
    if (present.kind === "other") return { kind: "rejected", message: present.reason };
    const before = present.kind === "file" ? present.version : null;
    if ((before?.sha256 ?? null) !== expectedSha256) conflicts.push(path);
    const after = versionOf(bytes);
    if (before?.sha256 === after?.sha256) continue;
    bytesBefore += before?.bytes.length ?? 0;
    if (bytesBefore > PLAN_BYTES) return { kind: "rejected", message: `its files have more than ${PLAN_BYTES} bytes` };
    files.push({ path, before, after });
  }
  return conflicts.length > 0 ? { kind: "conflict", paths: conflicts } : { kind: "prepared", files };
}

function versionOf(bytes: Uint8Array | null): FileVersion | null {
  return bytes === null ? null : { sha256: createHash("sha256").update(bytes).digest("hex"), bytes };
}

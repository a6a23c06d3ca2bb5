import { AppError, type JournalFile, type JournalState } from "@holdfast/core";
import { removeFolders, type PlanPlace } from "./plan-place.ts";
import { isVersion, lookAt, type PresentFile } from "./present-file.ts";
import { ForeignChange, replaceFile } from "./replace-file.ts";

/** The attempt may no longer write: another one has taken over, or its lease has run out. */
export class AttemptLost extends Error {
  override readonly name = "AttemptLost";
}

/** The task's owner may no longer write in the workspace. */
export class WriteDenied extends Error {
  override readonly name = "WriteDenied";
}

/** A plan that is bound, and the attempt that carries it out. */
export interface BoundPlan {
  readonly place: PlanPlace;
  readonly files: readonly JournalFile[];
  /** Moves the journal; throws `AttemptLost` or `WriteDenied` when it may not, and the store's error when nobody can tell. */
  readonly move: (from: readonly JournalState[], to: JournalState, options?: { detail?: string; recovered?: boolean }) => Promise<void>;
  /** Throws `AttemptLost` when this process knows that its lease is over. */
  readonly assertHeld: () => void;
}

/** Where a plan came to rest. */
export type PlanEnd =
  | { readonly kind: "committed" }
  /** `paths`: what somebody else had changed. None when the plan was given up for another reason, which is the `cause`. */
  | { readonly kind: "restored"; readonly paths: readonly string[]; readonly cause: unknown }
  /** Nothing was changed: the owner may no longer write. */
  | { readonly kind: "denied"; readonly detail: string }
  | { readonly kind: "unresolved"; readonly detail: string };

/**
 * Carries out a plan of which nothing is done yet. It may have waited since it was made: what others of ours have written meanwhile is seen
 * before it begins. Afterwards, nobody could tell it from what was written over one of its files.
 */
export async function beginPlan(plan: BoundPlan): Promise<PlanEnd> {
  const standings = await surveyPlan(plan);
  const changed = plan.files.filter((_, position) => standings[position] !== "before").map(({ path }) => path);
  if (changed.length === 0) return await applyPlan(plan);
  const detail = `changed since it was planned: ${changed.join(", ")}`;
  await plan.move(["planned", "restored"], "restored", { detail });
  return { kind: "restored", paths: changed, cause: new Error(detail) };
}

/**
 * Puts all files in place, in their order. Files that are in place already are left as they are, so that it can be done again.
 * `mayBeOurs` says which files an earlier attempt may have replaced.
 */
export async function applyPlan(plan: BoundPlan, mayBeOurs: (position: number) => boolean = () => false): Promise<PlanEnd> {
  try {
    await plan.move(["planned", "applying"], "applying");
  } catch (error) {
    if (!(error instanceof WriteDenied)) throw error;
    await plan.move(["planned", "restored"], "restored", { detail: error.message });
    return { kind: "denied", detail: error.message };
  }
  let done = 0;
  try {
    for (const [position, { path, before, after }] of plan.files.entries()) {
      await replace(plan, "applying", { path, position, from: before, to: after });
      done += 1;
    }
    for (const { path, after } of plan.files) if (!isVersion(await lookAt(plan.place, path), after)) throw new ForeignChange(path);
  } catch (error) {
    // The journal stays as it is, for the attempt that takes over.
    if (error instanceof AttemptLost || error instanceof AppError) throw error;
    return await restorePlan(plan, { from: "applying", cause: error, isNeverOurs: (position) => position >= done && !mayBeOurs(position) });
  }
  // Before the commit: nobody comes back to clean up after it.
  await removeFolders(plan.place, plan.files, "own").catch(() => undefined);
  await plan.move(["applying", "committed"], "committed");
  return { kind: "committed" };
}

/** Does something of a plan, and leaves nothing beside the files when the attempt turns out to be replaced: nobody else would remove it. */
export async function unlessLost<Value>({ place, files }: Pick<BoundPlan, "place" | "files">, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AttemptLost) await removeFolders(place, files, "own").catch(() => undefined);
    throw error;
  }
}

/** Puts the bytes back that every file of ours had. `isNeverOurs` says of which files it is certain that this plan has not replaced them. */
export async function restorePlan(
  plan: BoundPlan,
  options: { from: JournalState; cause: unknown; isNeverOurs: (position: number) => boolean },
): Promise<PlanEnd> {
  const { from, cause, isNeverOurs } = options;
  const [conflicts, lost] = [new Set<string>(cause instanceof ForeignChange ? [cause.path] : []), new Set<string>()];
  await plan.move([from, "rolling_back"], "rolling_back", { detail: describe(cause) });
  for (const [position, file] of [...plan.files.entries()].toReversed()) {
    const { path, before, after } = file;
    const foreign = isNeverOurs(position) ? conflicts : lost;
    try {
      const present = await lookAt(plan.place, path);
      if (isVersion(present, before)) continue;
      if (isVersion(present, after)) await replace(plan, "rolling_back", { path, position, from: after, to: before });
      else foreign.add(path);
    } catch (error) {
      if (!(error instanceof ForeignChange)) throw error;
      foreign.add(path);
    }
  }
  await removeFolders(plan.place, plan.files, "own").catch(() => undefined);
  if (lost.size === 0) {
    await plan.move(["rolling_back", "restored"], "restored", { detail: describe(cause) });
    return { kind: "restored", paths: [...conflicts], cause };
  }
  return await giveUp(plan, "rolling_back", `changed by somebody else after this plan may have replaced them: ${[...lost].join(", ")}`);
}

/** Nothing is done about the plan any more. */
export async function giveUp(plan: Pick<BoundPlan, "move">, from: JournalState, detail: string): Promise<PlanEnd> {
  await plan.move([from, "unresolved"], "unresolved", { detail });
  return { kind: "unresolved", detail };
}

export type Standing = "before" | "after" | "neither";

/** Where each file of a plan stands. */
export async function surveyPlan({ place, files }: Pick<BoundPlan, "place" | "files">): Promise<readonly Standing[]> {
  const standings: Standing[] = [];
  for (const file of files) standings.push(standingOf(await lookAt(place, file.path), file));
  return standings;
}

function standingOf(present: PresentFile, { before, after }: JournalFile): Standing {
  if (isVersion(present, before)) return "before";
  return isVersion(present, after) ? "after" : "neither";
}

async function replace(
  { place, move, assertHeld }: BoundPlan,
  state: JournalState,
  file: Pick<Parameters<typeof replaceFile>[1], "path" | "position" | "from" | "to">,
): Promise<void> {
  await replaceFile(place, { ...file, mayWrite: () => move([state], state), assertHeld });
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

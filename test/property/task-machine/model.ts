import { createMemoryTaskManager, type MemoryGrant } from "@holdfast/core/memory";
import { answerOf, MADE } from "./comparison.ts";
import type { Move, Store } from "./store.ts";
import { grants, workspaces } from "./places.ts";

/** The in-memory store with its clock, and all that it was told, so that the same can be told to another. */
export interface Model {
  readonly store: Store;
  readonly clock: { at: number };
  readonly past: { readonly at: number; readonly act: Move["act"] }[];
}

const BEGINNING = 1_700_000_000_000;
/** How much longer than they are visible Postgres keeps finished tasks. */
const KEPT_MS = 600_000;

export function openModel(): Model {
  const clock = { at: BEGINNING };
  const own: MemoryGrant[] = [...grants];
  const memory = createMemoryTaskManager({ now: () => clock.at, newReference: () => MADE, workspaces, grants: own });
  const store: Store = {
    ...memory,
    expire: (limit) => memory.expire(limit, KEPT_MS),
    permit: async (index, actions) => void own.splice(index, 1, { ...grants[index]!, actions }),
  };
  return { store, clock, past: [] };
}

export async function tell(model: Model, act: Move["act"]): Promise<unknown> {
  model.past.push({ at: model.clock.at, act });
  return await act(model.store);
}

/** Another model that was told the same at the same times. */
export async function replay(model: Model): Promise<Model> {
  const other = openModel();
  for (const { at, act } of model.past) {
    other.clock.at = at;
    await answerOf(tell(other, act));
  }
  other.clock.at = model.clock.at;
  return other;
}

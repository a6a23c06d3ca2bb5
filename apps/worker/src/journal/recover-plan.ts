import type { OPEN_JOURNAL_STATES } from "@holdfast/core";
import { applyPlan, beginPlan, restorePlan, surveyPlan, type BoundPlan, type PlanEnd } from "./carry-out.ts";
import { removeFolders } from "./plan-place.ts";

/**
 * Takes up the open plan of an attempt that is over, by what the journal and the files say (contract 7.2). The first thing is to make
 * sure that the earlier attempt does nothing more, should it only have been paused.
 */
export async function recoverPlan(
  plan: BoundPlan,
  entry: { readonly state: (typeof OPEN_JOURNAL_STATES)[number]; readonly cancelRequested: boolean },
): Promise<PlanEnd> {
  const { state, cancelRequested } = entry;
  await removeFolders(plan.place, plan.files, "earlier");
  const cancelled = new Error("the task was cancelled");
  switch (state) {
    case "planned": {
      if (!cancelRequested) return await beginPlan(plan);
      // Nothing was touched: there is nothing to put back.
      await plan.move(["planned", "restored"], "restored", { detail: cancelled.message });
      return { kind: "restored", paths: [], cause: cancelled };
    }
    case "applying": {
      const standings = await surveyPlan(plan);
      if (!cancelRequested && !standings.includes("neither")) return await applyPlan(plan, (position) => standings[position] === "after");
      return await restorePlan(plan, {
        from: state,
        cause: cancelRequested ? cancelled : new Error("some of its files were changed by somebody else"),
        // Files are replaced in their order: one that comes after a file which is as it was has not been reached.
        isNeverOurs: (position) => standings.slice(0, position).includes("before"),
      });
    }
    case "rolling_back":
      return await restorePlan(plan, { from: state, cause: new Error("it was being undone"), isNeverOurs: () => false });
  }
}

import { othersFiles } from "../mod/descriptor.ts";
import type { Diagnostic } from "../mod/diagnostic.ts";
import type { OpenSources } from "../mod/list-mod-files.ts";
import type { SwallowedEvent } from "./event-facts.ts";
import type { LinkedGraph, UnresolvedCall } from "./link-event-graph.ts";

/** What is wrong, or open, with the calls whose event the mod does not define. */
export function checkReferences(
  { unresolved, events }: Pick<LinkedGraph, "unresolved" | "events">,
  { swallowed, open }: { swallowed: readonly SwallowedEvent[]; open: OpenSources },
): Diagnostic[] {
  const elsewhere = othersFiles(open);
  const swallowedById = new Map(swallowed.map((event) => [event.id, event]));
  const spellings = new Map([...events.active.keys()].map((id) => [id.toLowerCase(), id]));
  return unresolved.map((call) => {
    if (call.call.target.kind === "helper") return skippedHelper(call);
    const lost = swallowedById.get(call.reference);
    if (lost !== undefined) return swallowedTarget(call, lost);
    const spelling = call.reason === "dynamic" ? undefined : spellings.get(call.reference.toLowerCase());
    return spelling === undefined ? openReference(call, elsewhere) : misspelledTarget(call, spelling);
  });
}

function skippedHelper({ reference, call }: UnresolvedCall): Diagnostic {
  return {
    code: "HELPER_UNRESOLVED",
    severity: "warning",
    category: "reference",
    message: `What the scripted effect ${reference} fires is not known, because its file was left out.`,
    classification: "unresolved_analysis",
    confidence: "unresolved",
    location: call.at,
  };
}

function openReference({ reference, reason, call }: UnresolvedCall, elsewhere: string): Diagnostic {
  const base = { category: "reference", location: call.at } as const;
  switch (reason) {
    case "missing":
      return {
        ...base,
        code: "EVENT_REFERENCE_MISSING",
        severity: "error",
        message: `${reference} is fired here, but no file defines it.`,
        classification: "confirmed_error",
        confidence: "high",
      };
    case "skipped":
      return {
        ...base,
        code: "EVENT_REFERENCE_MISSING",
        severity: "warning",
        message: `${reference} is fired here and no file that could be read defines it. Perhaps one of the skipped files does.`,
        classification: "unresolved_analysis",
        confidence: "unresolved",
      };
    case "not_configured":
      return {
        ...base,
        code: "EVENT_REFERENCE_UNRESOLVED",
        severity: "info",
        message: `${reference} is not defined in the mod. It may be an event of ${elsewhere}: unresolved, because those files are not configured.`,
        classification: "unresolved_analysis",
        confidence: "unresolved",
      };
    case "dynamic":
      return {
        ...base,
        code: "EVENT_DYNAMIC_DISPATCH_UNRESOLVED",
        severity: "info",
        message: `Which ${call.form === "scripted_effect" ? "effect" : "event"} "${reference}" is, only the running game knows.`,
        classification: "unresolved_analysis",
        confidence: "unresolved",
      };
  }
}

function swallowedTarget({ reference, call }: UnresolvedCall, { at, inside }: SwallowedEvent): Diagnostic {
  return {
    code: "EVENT_REFERENCE_MISSING",
    severity: "error",
    category: "reference",
    message: `${reference} is fired here, but its definition stands inside ${inside}, where the game does not see it.`,
    classification: "confirmed_error",
    confidence: "high",
    location: call.at,
    related: [at],
  };
}

function misspelledTarget({ reference, call }: UnresolvedCall, spelling: string): Diagnostic {
  return {
    code: "EVENT_REFERENCE_CASE_MISMATCH",
    severity: "warning",
    category: "reference",
    message: `${reference} is fired here; the mod defines ${spelling}, which differs in letter case.`,
    classification: "probable_defect",
    confidence: "medium",
    location: call.at,
  };
}

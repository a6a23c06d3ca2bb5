import { type Block, blockOf, type Pair, pairs, textOf, type Value, valueOf } from "../clausewitz/index.ts";
import { rootFrame } from "./effect-frame.ts";
import type { CallFact, EventFact, NamespaceFact, OptionFact } from "./event-facts.ts";
import { eventTypeOf, type EventType } from "./event-types.ts";
import { findSwallowed } from "./read-calls.ts";
import { readCondition } from "./read-conditions.ts";
import { readEffects } from "./read-effects.ts";
import { readMeanTime } from "./read-timing.ts";
import { hashContent, renderExpression } from "./render-expression.ts";
import type { ScriptContext } from "./script-context.ts";

/** The definitions of a file in `events/`. */
export function readEventDefinitions(context: ScriptContext): { namespaces: NamespaceFact[]; events: EventFact[] } {
  const namespaces: NamespaceFact[] = [];
  const events: EventFact[] = [];
  for (const entry of context.file.root.entries) {
    if (entry.kind !== "pair" || entry.key.text.startsWith("@")) continue;
    const type = eventTypeOf(entry.key.text.toLowerCase());
    const block = blockOf(entry.value);
    if (entry.key.is("add_namespace")) namespaces.push(...readNamespace(context, entry.value));
    else if (type === null || block === null) reportStray(context, entry);
    else events.push(...readEvent(context, entry, block, type));
  }
  return { namespaces, events };
}

function readNamespace(context: ScriptContext, value: Value | null): NamespaceFact[] {
  return value?.kind === "scalar" && value.text !== "" ? [{ name: value.text, at: context.at(value, value.text) }] : [];
}

function readEvent(context: ScriptContext, { key }: Pair, block: Block, type: EventType): EventFact[] {
  const id = textOf(valueOf(block, "id"));
  findSwallowed(context, block, id ?? key.text);
  if (id === null || id === "") {
    reportMissingId(context, key.start, key.end, key.text);
    return [];
  }
  const event: EventFact = {
    id,
    type,
    at: context.at(key, id),
    titles: textKeys(block, "title"),
    descriptions: textKeys(block, "desc"),
    isHidden: isYes(block, "hidden"),
    isTriggeredOnly: isYes(block, "is_triggered_only"),
    firesOnlyOnce: isYes(block, "fire_only_once"),
    isMajor: isYes(block, "major"),
    trigger: readCondition(context, block, "trigger", "event_trigger"),
    meanTime: meanTimeOf(context, block, id),
    isClosed: block.closed,
    contentHash: hashContent(block),
    calls: [...sectionCalls(context, block, "immediate", id), ...sectionCalls(context, block, "after", id)],
    options: [...pairs(block, "option")]
      .flatMap((option) => readOption(context, option, id))
      .map((option, index) => ({ ...option, index })),
  };
  reportNoWayOn(context, event);
  return [event];
}

function meanTimeOf(context: ScriptContext, event: Block, id: string): EventFact["meanTime"] {
  for (const { key, value } of pairs(event, "mean_time_to_happen")) {
    const block = blockOf(value);
    if (block !== null) return { timing: readMeanTime(block, context.constants), at: context.at(key, id) };
  }
  return null;
}

/** A text is one key, or several blocks of a key and the trigger that picks it. */
function textKeys(block: Block, keyword: string): string[] {
  return [...pairs(block, keyword)].flatMap(({ value }) => {
    const inner = blockOf(value);
    return (inner === null ? textOf(value) : textOf(valueOf(inner, "text"))) ?? [];
  });
}

function isYes(block: Block, keyword: string): boolean {
  const value = valueOf(block, keyword);
  return value?.kind === "scalar" && value.is("yes");
}

function sectionCalls(context: ScriptContext, event: Block, section: "immediate" | "after", id: string): CallFact[] {
  return [...pairs(event, section)].flatMap(({ value }) => {
    const block = blockOf(value);
    return block === null ? [] : readEffects(context, block, rootFrame(section, id));
  });
}

function readOption(context: ScriptContext, { key, value }: Pair, eventId: string): Omit<OptionFact, "index">[] {
  const block = blockOf(value);
  if (block === null) return [];
  const names = textKeys(block, "name");
  const aiChance = blockOf(valueOf(block, "ai_chance"));
  return [
    {
      names,
      at: context.at(key, names[0]),
      trigger: readCondition(context, block, "trigger", "option_trigger"),
      aiChance: aiChance === null ? null : renderExpression(aiChance),
      calls: readEffects(context, block, rootFrame("option", eventId)),
    },
  ];
}

function reportNoWayOn({ report }: ScriptContext, { id, at, isHidden, titles, options, isClosed }: EventFact): void {
  if (isHidden || !isClosed || options.length > 0 || titles.length === 0) return;
  report.add({
    code: "EVENT_WITHOUT_OPTION",
    severity: "warning",
    category: "validation",
    message: `${id} opens a window without an option to close it. Give it an option, or "hidden = yes".`,
    classification: "probable_defect",
    confidence: "high",
    location: at,
  });
}

function reportMissingId(context: ScriptContext, start: number, end: number, type: string): void {
  context.report.add({
    code: "EVENT_ID_MISSING",
    severity: "error",
    category: "validation",
    message: `This ${type} has no id, so nothing can fire it and it is left out of the graph.`,
    classification: "confirmed_error",
    confidence: "confirmed",
    location: context.at({ start, end }),
  });
}

function reportStray({ report, at }: ScriptContext, { key }: Pair): void {
  report.add({
    code: "EVENT_STRAY_ROOT_ENTRY",
    severity: "warning",
    category: "validation",
    message: `"${key.text}" stands outside of every event. Only events and "add_namespace" belong there; perhaps a "}" above closes too much.`,
    classification: "probable_defect",
    confidence: "high",
    location: at(key),
  });
}

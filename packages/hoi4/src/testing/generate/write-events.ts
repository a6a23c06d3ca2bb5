import type { TruthNotes } from "./ground-truth.ts";
import type { ModPlan, PlannedEvent } from "./plan-mod.ts";
import type { ScriptText } from "./script-text.ts";
import { writeCall, writeFiller, writePlainCall, type EffectPlace } from "./write-call.ts";

/** Texts that events name, by localisation key. */
export type Texts = Map<string, string>;

/** Writes one event as it was planned, its defect included. */
export function writeEvent(
  script: ScriptText,
  event: PlannedEvent,
  { plan, notes, texts }: { plan: ModPlan; notes: TruthNotes; texts: Texts },
): void {
  const { random } = plan;
  const { id, defect } = event;
  const node = `event:${id}`;
  const place: EffectPlace = { script, notes, random, from: node };
  notes.event();
  const isHidden = defect === null && event.next === null && random.chance(0.1);
  const line = script.open(`${random.chance(0.05) ? "news_event" : "country_event"} =`);
  script.line(`id = ${id}`);
  if (isHidden) script.line("hidden = yes");
  else {
    script.line(`title = ${id}.t`);
    script.line(`desc = ${id}.d`);
    script.line("picture = GFX_report_event_generic");
    texts.set(`${id}.t`, `Event ${event.index + 1}`).set(`${id}.d`, "Something has happened, and §Ysomebody§! has to decide.");
  }
  const isWaiting = writeStart(place, { event, line });
  const calls = isHidden || random.chance(0.3) ? writeImmediate(place, { event, plan }) : 0;
  const options = isHidden || defect === "no_option" ? 0 : random.between(1, 3);
  for (let index = 0; index < options; index += 1) writeOption(script, { event, index, plan, notes, texts });
  script.close();
  if (options === 0 && calls === 0) notes.terminal(node);
  if (defect === "no_option") notes.finding("EVENT_WITHOUT_OPTION", script.path, line);
  if (isWaiting) notes.waiting({ node, path: script.path, line });
}

/** How the event comes about; answers whether it waits to be fired. */
function writeStart(
  { script, notes, random }: EffectPlace,
  { event: { id, defect }, line }: { event: PlannedEvent; line: number },
): boolean {
  const entry = `entry:implicit/${id}`;
  const polled = (when: string, conditions: number) => {
    notes.entry(entry);
    notes.edge({ from: entry, to: `event:${id}`, when, conditions });
    return false;
  };
  if (defect === "unprompted") {
    notes.finding("EVENT_FIRES_UNPROMPTED", script.path, line);
    return polled("when the game tries it", 0);
  }
  if (defect === null && random.chance(0.08)) {
    const days = random.between(20, 200);
    script.line("trigger = { date > 1938.1.1 has_stability < 0.5 }");
    script.open("mean_time_to_happen =");
    script.line(`days = ${days}`);
    script.close();
    return polled(`when the game tries it, ${days} days on average`, 1);
  }
  script.line("is_triggered_only = yes");
  if (defect === "idle_mean_time") notes.finding("EVENT_MEAN_TIME_IGNORED", script.path, script.line("mean_time_to_happen = { days = 5 }"));
  return true;
}

function writeImmediate(place: EffectPlace, { event, plan }: { event: PlannedEvent; plan: ModPlan }): number {
  if (event.defect === "no_option") return 0;
  const { script, random } = place;
  script.open("immediate =");
  writeFiller(place, plan.filler);
  const later = plan.events[event.index + random.between(1, 60)];
  if (later !== undefined) writeCall(place, later.id);
  script.close();
  return later === undefined ? 0 : 1;
}

function writeOption(
  script: ScriptText,
  { event, index, plan, notes, texts }: { event: PlannedEvent; index: number; plan: ModPlan; notes: TruthNotes; texts: Texts },
): void {
  const { random } = plan;
  const { id, defect } = event;
  const name = `${id}.${String.fromCodePoint(0x61 + index)}`;
  const from = `option:${id}/${name}`;
  const place: EffectPlace = { script, notes, random, from };
  const isFirst = index === 0;
  const line = script.open(isFirst && defect === "missing_operator" ? "option" : "option =");
  if (isFirst && defect === "missing_operator") notes.finding("MISSING_OPERATOR", script.path, line);
  script.line(`name = ${name}`);
  texts.set(name, `Choice ${index + 1}`);
  const isConditional = random.chance(0.2);
  if (isConditional) script.line("trigger = { OR = { has_government = democratic original_tag = ENG } }");
  if (random.chance(0.4)) script.line("ai_chance = { base = 10 modifier = { factor = 0.5 is_historical_focus_on = yes } }");
  writeFiller(place, plan.filler);
  notes.option();
  notes.edge({ from: `event:${id}`, to: from, when: "at once", conditions: isConditional ? 1 : 0 });
  let calls = isFirst ? writePlanned(place, { event, plan }) : 0;
  const later = random.chance(0.6) ? plan.events[event.index + random.between(1, 60)] : undefined;
  if (later !== undefined) {
    writeCall(place, later.id);
    calls += 1;
  }
  const helper = random.chance(0.2) ? random.pick(plan.helpers) : undefined;
  if (helper !== undefined && helper.fires > event.index) {
    script.line(`${helper.name} = yes`);
    notes.edge({ from, to: `helper:${helper.name}`, when: "at once", conditions: 0 });
    calls += 1;
  }
  if (isFirst && defect === "missing_value") notes.finding("MISSING_VALUE", script.path, script.line("add_war_support ="));
  script.close();
  if (calls === 0) notes.terminal(from);
}

/** The calls that make the event's defect, or its circle. */
function writePlanned(
  place: EffectPlace,
  { event: { index, namespace, defect, next }, plan }: { event: PlannedEvent; plan: ModPlan },
): number {
  const { script, notes, from, random } = place;
  if (next !== null) {
    writePlainCall(place, next, `event:${next}`);
    return 1;
  }
  const open = (id: string, code: string) => notes.finding(code, script.path, writePlainCall(place, id, `unresolved:event/${id}`));
  switch (defect) {
    case "missing_target":
      open(`${namespace}.${900_000 + index}`, "EVENT_REFERENCE_MISSING");
      return 1;
    case "game_target":
      open(`vanilla.${index}`, "EVENT_REFERENCE_UNRESOLVED");
      return 1;
    case "misspelled_target":
      open(random.pick(plan.events).id.replace("gen", index % 2 === 0 ? "GEN" : "Gen"), "EVENT_REFERENCE_CASE_MISMATCH");
      return 1;
    case "dynamic_target": {
      const expression = `${namespace}.[STAGE_${index}]`;
      script.open("meta_effect =");
      script.open("text =");
      notes.finding("EVENT_DYNAMIC_DISPATCH_UNRESOLVED", script.path, script.line(`country_event = { id = ${expression} }`));
      script.close();
      script.line(`STAGE_${index} = "[?gen_stage]"`);
      script.close();
      notes.edge({ from, to: `unresolved:dynamic/${expression}`, when: "at once", conditions: 0 });
      return 1;
    }
    case null:
    case "duplicate":
    case "idle_mean_time":
    case "missing_operator":
    case "missing_value":
    case "no_option":
    case "unprompted":
      return 0;
  }
}

import type { TruthNotes } from "./ground-truth.ts";
import type { ModPlan } from "./plan-mod.ts";
import { createScript, type ScriptText } from "./script-text.ts";
import { writeCall, writeFiller, writePlainCall, type EffectPlace } from "./write-call.ts";

/** Scripted effects, and everything outside of events that fires them. */
export function writeCallers(plan: ModPlan, notes: TruthNotes): ScriptText[] {
  const count = Math.ceil(plan.events.length / 60);
  const numbers = Array.from({ length: count }, (_, index) => index);
  return [writeHelpers(plan, notes), ...CALLERS.map((write) => write({ plan, notes, numbers }))];
}

function writeHelpers({ helpers, events, random, filler, defects }: ModPlan, notes: TruthNotes): ScriptText {
  const script = createScript("common/scripted_effects/gen_effects.txt");
  for (const { name, fires } of helpers) {
    const place: EffectPlace = { script, notes, random, from: `helper:${name}` };
    script.open(`${name} =`);
    notes.helper();
    writeFiller(place, filler);
    const target = events[fires];
    if (target !== undefined) writeCall(place, target.id);
    script.close();
  }
  for (let index = 0; index < defects; index += 1) {
    const names = [`gen_loop_${index}_a`, `gen_loop_${index}_b`] as const;
    const lines = names.map((name, step) => {
      const other = names[1 - step] ?? name;
      notes.helper();
      notes.edge({ from: `helper:${name}`, to: `helper:${other}`, when: "at once", conditions: 0 });
      return script.line(`${name} = { ${other} = yes }`);
    });
    notes.finding("EVENT_HELPER_CYCLE", script.path, lines[0] ?? 0);
  }
  return script;
}

interface Callers {
  readonly plan: ModPlan;
  readonly notes: TruthNotes;
  readonly numbers: readonly number[];
}

const CALLERS: readonly ((callers: Callers) => ScriptText)[] = [writeOnActions, writeFocuses, writeDecisions, writeIdeas, writeHistory];

function writeOnActions({ plan, notes, numbers }: Callers): ScriptText {
  const { random, events } = plan;
  const script = createScript("common/on_actions/gen_on_actions.txt");
  script.open("on_actions =");
  for (const number of numbers) {
    const from = `entry:on_action/on_gen_${number}`;
    const place: EffectPlace = { script, notes, random, from };
    const { id } = random.pick(events);
    notes.entry(from);
    script.open(`on_gen_${number} =`);
    const plainly = (text: string) => {
      script.line(text);
      notes.edge({ from, to: `event:${id}`, when: "at once", conditions: 0 });
    };
    if (number % 3 === 0) plainly(`random_events = { 100 = 0 25 = ${id} }`);
    else if (number % 3 === 1) plainly(`events = { ${id} }`);
    else inside(script, "effect =", () => writeCall(place, id));
    script.close();
  }
  script.close();
  return script;
}

function writeFocuses({ plan, notes, numbers }: Callers): ScriptText {
  const { random, events, filler } = plan;
  const script = createScript("common/national_focus/gen_focus.txt");
  script.open("focus_tree =");
  script.line("id = gen_tree");
  for (const number of numbers) {
    const from = `entry:focus/GEN_focus_${number}/completion_reward`;
    const place: EffectPlace = { script, notes, random, from };
    notes.entry(from);
    script.open("focus =");
    for (const line of [`id = GEN_focus_${number}`, `x = ${number * 2}`, `y = ${number % 12}`, "cost = 10"]) script.line(line);
    inside(script, "completion_reward =", () => {
      writeFiller(place, filler);
      writeCall(place, random.pick(events).id);
    });
    script.close();
  }
  script.close();
  return script;
}

function writeDecisions({ plan, notes, numbers }: Callers): ScriptText {
  const { random, events } = plan;
  const script = createScript("common/decisions/gen_decisions.txt");
  script.open("gen_category =");
  for (const number of numbers) {
    const isMission = number % 2 === 0;
    const phase = isMission ? "timeout_effect" : "complete_effect";
    const from = `entry:${isMission ? "mission" : "decision"}/gen_decision_${number}/${phase}`;
    notes.entry(from);
    script.open(`gen_decision_${number} =`);
    script.line(isMission ? "days_mission_timeout = 90" : "cost = 50");
    script.line("available = { has_war = no }");
    inside(script, `${phase} =`, () => writeCall({ script, notes, random, from }, random.pick(events).id));
    script.close();
  }
  script.close();
  return script;
}

function writeIdeas({ plan, notes, numbers }: Callers): ScriptText {
  const { random, events } = plan;
  const script = createScript("common/ideas/gen_ideas.txt");
  script.open("ideas =");
  script.open("country =");
  for (const number of numbers) {
    const from = `entry:idea/gen_idea_${number}/on_add`;
    notes.entry(from);
    script.open(`gen_idea_${number} =`);
    script.line("modifier = { stability_factor = 0.05 }");
    inside(script, "on_add =", () => writeCall({ script, notes, random, from }, random.pick(events).id));
    script.close();
  }
  script.close();
  script.close();
  return script;
}

/** One country, whose history fires an event when the game starts. */
function writeHistory({ plan, notes }: Callers): ScriptText {
  const script = createScript("history/countries/GEN - Generated.txt");
  const from = "entry:country_setup/GEN - Generated";
  script.line("capital = 1");
  script.line("set_politics = { ruling_party = neutrality }");
  const { id } = plan.random.pick(plan.events);
  notes.entry(from);
  writePlainCall({ script, notes, random: plan.random, from }, id, `event:${id}`);
  return script;
}

function inside(script: ScriptText, opening: string, write: () => void): void {
  script.open(opening);
  write();
  script.close();
}

import type { TruthNotes } from "./ground-truth.ts";
import type { Random } from "./random.ts";
import type { ScriptText } from "./script-text.ts";

/** Where effects are written, and what is known of whatever they fire. */
export interface EffectPlace {
  readonly script: ScriptText;
  readonly notes: TruthNotes;
  readonly random: Random;
  /** The node that the effects belong to. */
  readonly from: string;
}

/** Writes a call of an event of the mod in one of the ways that mods do. */
export function writeCall(place: EffectPlace, id: string): void {
  const { random } = place;
  random.pick(CALL_SHAPES)(place, id);
  if (random.chance(0.15)) random.pick(TRAPS)(place.script, id);
}

/** Writes a call with nothing around it and answers its line. */
export function writePlainCall({ script, notes, from }: EffectPlace, id: string, to: string): number {
  notes.edge({ from, to, when: "at once", conditions: 0 });
  return script.line(`country_event = ${id}`);
}

/** Effects that fire nothing, which most script consists of. */
export function writeFiller({ script, random }: EffectPlace, lines: number): void {
  for (let index = 0; index < lines; index += 1) script.line(random.pick(FILLER)(random));
}

type CallShape = (place: EffectPlace, id: string) => void;

const CALL_SHAPES: readonly CallShape[] = [
  (place, id) => note(place, id, "at once", 0, `country_event = ${id}`),
  (place, id) => note(place, id, "at once", 0, `Country_Event = { id = "${id}" tooltip = ${id}.tt }`),
  (place, id) => {
    const days = place.random.between(2, 60);
    note(place, id, `after ${days} days`, 0, `country_event={id=${id} days=${days}}`);
  },
  (place, id) => note(place, id, "after 6 hours and up to 12 hours more", 0, `country_event = { hours = 6 random_hours = 12 id = ${id} }`),
  (place, id) => {
    const { script, random } = place;
    const days = random.between(2, 9);
    script.open("country_event =");
    script.line(`id = ${id} # soon`);
    script.line(`days = ${days}`);
    script.line("random_days = 3");
    script.close();
    note(place, id, `after ${days} days and up to 3 days more`, 0);
  },
  (place, id) => {
    const { script } = place;
    script.open("if =");
    script.line("limit = { has_war = yes }");
    note(place, id, "at once", 1, `country_event = { id = ${id} }`);
    script.close();
    script.open("else =");
    note(place, id, "after 1 day", 1, `country_event = { id = ${id} days = 1 }`);
    script.close();
  },
  (place, id) =>
    wrapped(place, "random =", () => {
      place.script.line("chance = 20");
      note(place, id, "at once", 1, `country_event = ${id}`);
    }),
  (place, id) =>
    wrapped(place, "random_list =", () => {
      note(place, id, "at once", 0, `60 = { country_event = ${id} }`);
      place.script.line("40 = { add_stability = 0.01 }");
    }),
  (place, id) => wrapped(place, "hidden_effect =", () => note(place, id, "at once", 0, `country_event = ${id}`)),
  (place, id) =>
    wrapped(place, "every_neighbor_country =", () => {
      place.script.line("limit = { is_subject = no NOT = { has_country_flag = asked } }");
      note(place, id, "at once", 1, `news_event = { id = ${id} }`);
    }),
  (place, id) =>
    wrapped(place, "FROM.FROM =", () =>
      note(
        place,
        id,
        "after a time that only the game knows (days = var:patience)",
        0,
        `country_event = { id = ${id} days = var:patience }`,
      ),
    ),
];

/** Text that looks like a call and is none. */
const TRAPS: readonly ((script: ScriptText, id: string) => void)[] = [
  (script, id) => void script.line(`# country_event = ${id}`),
  (script, id) => void script.line(`log = "[GetDateText]: country_event = { id = ${id} }"`),
  (script, id) => void script.line(`effect_tooltip = { country_event = ${id} }`),
  (script, id) => void script.line(`custom_effect_tooltip = { localization_key = later country_event = ${id} }`),
];

const FILLER: readonly ((random: Random) => string)[] = [
  (random) => `add_political_power = ${random.between(-50, 120)}`,
  (random) => `add_stability = -0.0${random.between(1, 9)}`,
  (random) => `set_country_flag = { flag = gen_flag_${random.below(400)} days = ${random.between(10, 365)} value = 1 }`,
  (random) => `set_temp_variable = { gen_amount = ${random.between(1, 9)}.5 }`,
  (random) => `add_to_variable = { gen_score_${random.below(50)}@ROOT = gen_amount } # kept for later`,
  (random) => `add_opinion_modifier = { target = ROOT modifier = gen_opinion_${random.below(80)} }`,
  (random) => `random_owned_controlled_state = { add_extra_state_shared_building_slots = ${random.between(1, 3)} }`,
  (random) => `add_timed_idea = { idea = gen_idea_${random.below(60)} days = ${random.between(30, 720)} }`,
];

function wrapped({ script }: EffectPlace, opening: string, inside: () => void): void {
  script.open(opening);
  inside();
  script.close();
}

function note({ script, notes, from }: EffectPlace, id: string, when: string, conditions: number, line?: string): void {
  if (line !== undefined) script.line(line);
  notes.edge({ from, to: `event:${id}`, when, conditions });
}

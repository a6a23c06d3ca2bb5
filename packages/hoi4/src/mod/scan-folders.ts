import { compareText } from "../compare-text.ts";

/** Where entry points of one kind stand in the files of a folder. */
export interface CallerShape {
  readonly kind: CallerKind;
  /** What one definition is called, for people: `idea`, `technology`. */
  readonly noun: string;
  /** The key that holds the name of a definition whose block is called the same as all others of its kind. */
  readonly nameKey?: "id" | "name";
  readonly layout: CallerLayout;
}

export type CallerKind = "on_action" | "focus" | "decision" | "country_setup" | "state_setup" | "other";

/** Blocks of a definition that hold several places where effects run, and the blocks inside them that do; `*` stands for any other name. */
export interface Containers {
  readonly [block: string]: Containers;
}

/** How definitions are found: below so many wrapping blocks; or by the rules of on_actions, of focus trees, of state files, of a file that is one definition. */
export type CallerLayout =
  | { readonly depth: number; readonly containers: Containers }
  | "on_actions"
  | "focus_trees"
  | "states"
  | "whole_file";

export type ScanRole =
  | { readonly kind: "events" }
  | { readonly kind: "scripted_effects" }
  | { readonly kind: "scripted_triggers" }
  | { readonly kind: "localisation" }
  | { readonly kind: "caller"; readonly shape: CallerShape };

/** What a file has to do with events, by its path inside a layer; null for files that an event scan leaves alone. */
export function scanRole(path: string): ScanRole | null {
  const lower = path.toLowerCase();
  if (lower.startsWith("localisation/")) return lower.endsWith(".yml") ? { kind: "localisation" } : null;
  if (!lower.endsWith(".txt")) return null;
  return folders.find(({ folder }) => lower.startsWith(folder))?.role ?? null;
}

/** What a file of this role could define: the references that stay open when it cannot be read. */
export function definableKinds(role: ScanRole): readonly string[] {
  switch (role.kind) {
    case "events":
      return ["event"];
    case "scripted_effects":
      return ["scripted_effect"];
    case "scripted_triggers":
      return ["scripted_trigger"];
    case "localisation":
      return ["localisation"];
    case "caller":
      return [role.shape.noun];
  }
}

function caller(kind: CallerKind, noun: string, layout: Extract<CallerLayout, string>): ScanRole {
  return { kind: "caller", shape: { kind, noun, layout, ...(layout === "focus_trees" ? { nameKey: "id" } : {}) } };
}

function nested(
  depth: number,
  noun: string,
  { kind = "other", containers = {}, ...name }: { kind?: CallerKind; containers?: Containers; nameKey?: "id" | "name" } = {},
): ScanRole {
  return { kind: "caller", shape: { kind, noun, layout: { depth, containers }, ...name } };
}

const offices: Containers = { advisor: {}, country_leader: {}, corps_commander: {}, field_marshal: {}, navy_leader: {}, scientist: {} };

const reward: Containers = { option: { iteration_output: {} } };

const rolesByFolder: Readonly<Record<string, ScanRole>> = {
  events: { kind: "events" },
  "common/scripted_effects": { kind: "scripted_effects" },
  "common/scripted_triggers": { kind: "scripted_triggers" },
  "common/on_actions": caller("on_action", "on_action", "on_actions"),
  "common/decisions": nested(1, "decision", { kind: "decision" }),
  "common/decisions/categories": nested(0, "decision category", { kind: "decision" }),
  "common/national_focus": caller("focus", "focus", "focus_trees"),
  "common/continuous_focus": caller("focus", "continuous focus", "focus_trees"),
  "common/ideas": nested(2, "idea"),
  "common/characters": nested(1, "character", { containers: { ...offices, instance: offices } }),
  "common/operations": nested(0, "operation"),
  "common/raids": nested(1, "raid", { containers: { success_levels: { "*": {} } } }),
  "common/bop": nested(0, "balance of power", { containers: { range: {}, side: { range: {} } } }),
  "common/resistance_compliance_modifiers": nested(0, "resistance modifier"),
  "common/abilities": nested(1, "ability"),
  "common/special_projects": nested(0, "special project", {
    containers: { project_output: {}, unique_prototype_rewards: { "*": reward }, ...reward },
  }),
  "common/scripted_guis": nested(1, "scripted GUI", { containers: { effects: {} } }),
  "common/scripted_diplomatic_actions": nested(1, "diplomatic action"),
  "common/peace_conference": nested(1, "peace action"),
  "common/intelligence_agencies": nested(0, "intelligence agency"),
  "common/ai_strategy_plans": nested(0, "AI strategy plan"),
  "common/game_rules": nested(0, "game rule"),
  "common/dynamic_modifiers": nested(0, "dynamic modifier"),
  "common/military_industrial_organization": nested(0, "military industrial organization", {
    containers: { initial_trait: {}, trait: {}, add_trait: {}, override_trait: {} },
  }),
  "common/bookmarks": nested(1, "bookmark", { nameKey: "name" }),
  "common/factions/goals": nested(0, "faction goal"),
  "common/factions/rules": nested(0, "faction rule"),
  "common/focus_inlay_windows": nested(0, "focus inlay window", { containers: { scripted_buttons: { "*": {} } } }),
  "common/unit_medals": nested(1, "unit medal"),
  "common/occupation_laws": nested(0, "occupation law"),
  "common/unit_leader": nested(1, "unit leader trait"),
  "common/country_leader": nested(1, "country leader trait"),
  "common/doctrines": nested(0, "doctrine"),
  "common/technologies": nested(1, "technology"),
  "common/buildings": nested(1, "building"),
  "history/countries": caller("country_setup", "country history", "whole_file"),
  "history/states": caller("state_setup", "state history", "states"),
  "history/units": caller("other", "unit history", "whole_file"),
  "history/general": caller("other", "general history", "whole_file"),
  tutorial: nested(1, "tutorial"),
};

/** Deepest folder first, so that a folder inside another one keeps its own shape. */
const folders = Object.entries(rolesByFolder)
  .map(([folder, role]) => ({ folder: `${folder}/`, role }))
  .toSorted((a, b) => b.folder.length - a.folder.length || compareText(a.folder, b.folder));

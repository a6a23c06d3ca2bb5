import type { Diagnostic } from "../mod/diagnostic.ts";
import type { SourceLocation } from "../mod/source-location.ts";
import type { Condition, ConditionList } from "./condition-list.ts";
import type { EventType } from "./event-types.ts";

/** What one file says about events, before anything is resolved across files. Holds texts and numbers only, no syntax tree. */
export interface FileFacts {
  readonly namespaces: readonly NamespaceFact[];
  readonly events: readonly EventFact[];
  readonly helpers: readonly HelperFact[];
  readonly entries: readonly EntryFact[];
  /** Definitions that stand inside another block and are therefore none for the game. */
  readonly swallowed: readonly SwallowedEvent[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface NamespaceFact {
  readonly name: string;
  readonly at: SourceLocation;
}

export interface EventFact {
  readonly id: string;
  readonly type: EventType;
  readonly at: SourceLocation;
  /** Localisation keys in source order; several when the text depends on triggers. */
  readonly titles: readonly string[];
  readonly descriptions: readonly string[];
  readonly isHidden: boolean;
  readonly isTriggeredOnly: boolean;
  readonly firesOnlyOnce: boolean;
  readonly isMajor: boolean;
  readonly trigger: Condition | null;
  readonly meanTime: { readonly timing: Timing; readonly at: SourceLocation } | null;
  /** False for a definition that reaches to the end of its file: what it lacks may have been lost to the slip that left it open. */
  readonly isClosed: boolean;
  /** The definition in one canonical line, hashed: tells duplicates apart wherever they stand. */
  readonly contentHash: string;
  readonly calls: readonly CallFact[];
  readonly options: readonly OptionFact[];
}

export interface OptionFact {
  /** From 0, in source order. */
  readonly index: number;
  readonly names: readonly string[];
  readonly at: SourceLocation;
  readonly trigger: Condition | null;
  /** One canonical line. */
  readonly aiChance: string | null;
  readonly calls: readonly CallFact[];
}

export interface HelperFact {
  readonly name: string;
  readonly at: SourceLocation;
  readonly contentHash: string;
  readonly calls: readonly CallFact[];
}

/** `implicit` entries are not facts of a file: linking makes one for each event that the game polls by itself. */
export const ENTRY_KINDS = ["on_action", "focus", "decision", "mission", "country_setup", "state_setup", "implicit", "other"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface EntryFact {
  readonly kind: EntryKind;
  /** What it is called, for people: `focus`, `idea`. */
  readonly noun: string;
  readonly id: string;
  /** Which of its blocks: `completion_reward`. Null when there is only one. */
  readonly phase: string | null;
  readonly at: SourceLocation;
  readonly calls: readonly CallFact[];
}

export interface SwallowedEvent {
  readonly id: string;
  readonly at: SourceLocation;
  /** The definition around it. */
  readonly inside: string;
}

export type CallTarget =
  | { readonly kind: "event"; readonly id: string }
  | { readonly kind: "helper"; readonly name: string; readonly isSpelledAlike: boolean }
  | { readonly kind: "dynamic"; readonly expression: string };

/** The words that fire an event. */
export type CallForm = EventType | "random_events" | "events" | "border_war" | "scripted_effect";

export type CallTrait = "hidden" | "random" | "weighted" | "meta";

/** One place that fires an event or runs a scripted effect. */
export interface CallFact {
  readonly form: CallForm;
  readonly target: CallTarget;
  readonly section: "immediate" | "after" | "option" | "effect";
  readonly at: SourceLocation;
  /** In the order of `CallTrait`. */
  readonly traits: readonly CallTrait[];
  /** All of them hold when the call is reached. */
  readonly conditions: ConditionList | null;
  readonly timing: Timing;
  /** Of the innermost weighted list that the call stands in. */
  readonly weight: Weight | null;
  /** Of the lists around that one, outermost first. */
  readonly outerWeights: readonly Weight[];
  /** The blocks between the definition and the call that change whom effects are for: `["every_country", "FROM"]`. */
  readonly scope: readonly string[];
}

export interface Timing {
  readonly mode: "immediate" | "fixed" | "random" | "fixed_and_random" | "mean_time_to_happen" | "date" | "unknown";
  /** Only what the script gives; a part that is no plain number is in `unknown` instead. */
  readonly hours?: number;
  readonly days?: number;
  readonly months?: number;
  readonly years?: number;
  readonly randomHours?: number;
  readonly randomDays?: number;
  /** `1939.1.1`: set up at this date, or at the start of a game that begins later. */
  readonly date?: string;
  /** Parts that only the game can evaluate, as written: `days = var:patience`. */
  readonly unknown?: readonly string[];
  /** Of a mean time: what changes it. */
  readonly modifiers?: readonly string[];
}

export interface Weight {
  /** Null when only the game knows it. */
  readonly value: number | null;
  readonly expression: string;
  /** Sum of the list it belongs to; null when a weight in it is unknown. */
  readonly total: number | null;
  /** One canonical line each. */
  readonly modifiers: readonly string[];
  readonly validity: "valid" | "invalid" | "unknown";
}

import type { Confidence } from "../mod/diagnostic.ts";
import type { SourcePoint } from "../mod/source-location.ts";
import type { Condition } from "./condition-list.ts";
import type { CallForm, CallTrait, EntryKind, Timing, Weight } from "./event-facts.ts";
import type { EventType, RootScope } from "./event-types.ts";

/**
 * How the events of a mod hang together. Nodes and edges are named by what they are and not by where they stand, so that
 * moving a definition changes locations only. Both lists are sorted by id.
 */
export interface EventGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export type GraphNode = EventNode | OptionNode | EntryNode | HelperNode | UnresolvedNode | TerminalNode;

export interface EventNode {
  readonly kind: "event";
  /** `event:lantern.1`; definitions that lose to another one of the same id have a hash of their content behind it. */
  readonly id: string;
  readonly eventId: string;
  readonly type: EventType;
  readonly namespace: string | null;
  readonly titleKeys: readonly string[];
  readonly descriptionKeys: readonly string[];
  readonly isHidden: boolean;
  readonly isTriggeredOnly: boolean;
  readonly firesOnlyOnce: boolean;
  readonly isMajor: boolean;
  readonly rootScope: RootScope;
  /** Calls of this id come here. False for the losers among definitions of the same id. */
  readonly isActive: boolean;
  readonly location: SourcePoint;
}

export interface OptionNode {
  readonly kind: "option";
  /** `option:lantern.1/lantern.1.a`. */
  readonly id: string;
  /** The node of its event. */
  readonly event: string;
  readonly eventId: string;
  readonly index: number;
  readonly nameKeys: readonly string[];
  /** Whether a trigger can hide it; the edge to it has the trigger. */
  readonly isConditional: boolean;
  readonly aiChance: string | null;
  readonly location: SourcePoint;
}

export interface EntryNode {
  readonly kind: "entry";
  /** `entry:focus/LHB_relight_the_lamp/completion_reward`. */
  readonly id: string;
  readonly entryKind: EntryKind;
  readonly noun: string;
  readonly name: string;
  readonly phase: string | null;
  readonly location: SourcePoint;
}

export interface HelperNode {
  readonly kind: "helper";
  /** `helper:lantern_festival`. */
  readonly id: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly location: SourcePoint;
}

export interface UnresolvedNode {
  readonly kind: "unresolved";
  /** `unresolved:event/news.57`, `unresolved:helper/left_out`, `unresolved:dynamic/lantern.[STAGE]`. */
  readonly id: string;
  readonly reference: string;
  readonly reason: UnresolvedReason;
}

/** `missing`: no file can define it; `not_configured`: the files of the game or of a mod it depends on could, and they are not here; `skipped`: a file that was not read could; `dynamic`: named while the game runs. */
export type UnresolvedReason = "missing" | "not_configured" | "skipped" | "dynamic";

/** Where a chain ends: the event or option that leads here fires nothing more. */
export interface TerminalNode {
  readonly kind: "terminal";
  readonly id: string;
}

export type EdgeReason =
  | "option_branch"
  | "immediate_call"
  | "option_call"
  | "after_call"
  | "helper_call"
  | "on_action_entry"
  | "focus_entry"
  | "decision_entry"
  | "mission_entry"
  | "setup_entry"
  | "implicit_entry"
  | "other_entry"
  | "scripted_effect_call"
  | "unresolved_dynamic_reference"
  | "terminal";

export interface GraphEdge {
  /** Sixteen hexadecimal digits that depend on what the edge says; equal edges are counted up behind a `~`. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly reason: EdgeReason;
  /** Null where nothing is called: the edges to options and terminals. */
  readonly form: CallForm | null;
  /** `delayed` for every timing but immediate. */
  readonly traits: readonly (CallTrait | "delayed")[];
  /** All of them hold when the edge is taken, outermost first. */
  readonly conditions: readonly Condition[];
  /** How many are missing because the graph would have grown too large; then `conditions` is empty. */
  readonly conditionsOmitted?: number;
  readonly timing: Timing;
  /** Of the weighted list that picks the edge; of several inside each other, the innermost. */
  readonly weight: Weight | null;
  /** Of the lists around that one, outermost first; only where there are any. */
  readonly outerWeights?: readonly Weight[];
  /** The blocks that lead from the caller to whom the event is for. */
  readonly scope: readonly string[];
  /** The scripted effects between the caller and the callee; one in the structural graph, which gives each helper its own node. */
  readonly helperStack: readonly string[];
  readonly confidence: Confidence;
  readonly location: SourcePoint;
}

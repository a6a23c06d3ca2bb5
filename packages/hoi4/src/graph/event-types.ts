/** The kinds of event; each is also the name of the effect that fires it. News events share the ids of country events. */
export const EVENT_TYPES = ["country_event", "news_event", "state_event", "unit_leader_event", "operative_leader_event"] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Whose event it is: what ROOT stands for besides the country. */
export const ROOT_SCOPES = {
  country_event: "country",
  news_event: "country",
  state_event: "state",
  unit_leader_event: "unit_leader",
  operative_leader_event: "operative_leader",
} as const satisfies Record<EventType, string>;

export type RootScope = (typeof ROOT_SCOPES)[EventType];

export function eventTypeOf(key: string): EventType | null {
  return EVENT_TYPES.find((type) => type === key) ?? null;
}

/** What comes before the first dot; null for an id without one. */
export function namespaceOf(eventId: string): string | null {
  const dot = eventId.indexOf(".");
  return dot < 0 ? null : eventId.slice(0, dot);
}

/** The block that only an event in play can name: its id is put together, or looked up, while the game runs. */
export function isDynamic(id: string): boolean {
  return /[[\]?@]|^(?:var|event_target|global_event_target|scope|token|constant|array):/iu.test(id);
}

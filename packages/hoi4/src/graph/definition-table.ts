import type { HelperFact } from "./event-facts.ts";
import { counted, nodeName } from "./node-names.ts";

/** Definitions of one kind, with the node that each one is. */
export interface DefinitionTable<Fact> {
  readonly all: readonly Defined<Fact>[];
  /** By id: the definition that counts. */
  readonly active: ReadonlyMap<string, Defined<Fact>>;
}

export interface Defined<Fact> {
  readonly fact: Fact;
  readonly nodeId: string;
  readonly isActive: boolean;
}

/** Names the node of each definition. `winner` picks the one that calls reach from those of one id, which are in load order. */
export function tabulate<Fact extends { readonly contentHash: string }>({
  facts,
  kind,
  idOf,
  winner,
}: {
  facts: readonly Fact[];
  kind: string;
  idOf: (fact: Fact) => string;
  winner: (definitions: readonly Fact[]) => Fact | undefined;
}): DefinitionTable<Fact> {
  const taken = new Map<string, number>();
  const byId = Map.groupBy(facts, idOf);
  const all = facts.map((fact) => {
    const id = idOf(fact);
    const isActive = winner(byId.get(id) ?? []) === fact;
    const name = nodeName(kind, id);
    return { fact, isActive, nodeId: isActive ? name : counted(taken, `${name}#${fact.contentHash}`) };
  });
  return { all, active: new Map(all.filter(({ isActive }) => isActive).map((defined) => [idOf(defined.fact), defined])) };
}

/** The helpers that can lead to an event, or to something unknown: found by spreading from callee to caller until nothing changes. */
export function firingHelpers({ active }: DefinitionTable<HelperFact>): Set<string> {
  const callers = new Map<string, string[]>();
  const firing = new Set<string>();
  for (const [name, { fact }] of active) {
    for (const { target } of fact.calls) {
      if (target.kind !== "helper") firing.add(name);
      else if (!callers.get(target.name)?.push(name)) callers.set(target.name, [name]);
    }
  }
  // A set is iterated together with what is added to it meanwhile.
  for (const name of firing) for (const caller of callers.get(name) ?? []) firing.add(caller);
  return firing;
}

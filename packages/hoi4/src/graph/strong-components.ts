/** Groups of names that all lead to each other, by Tarjan's algorithm with a stack of its own: chains of calls can be longer than ours may be. */
export function componentsOf(names: readonly string[], calleesOf: (name: string) => readonly string[]): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const components: string[][] = [];
  const enter = (name: string) => {
    index.set(name, index.size);
    low.set(name, index.size - 1);
    open.push(name);
    isOpen.add(name);
    return { name, callees: calleesOf(name).values() };
  };
  const lower = (name: string, to: number) => low.set(name, Math.min(low.get(name) ?? to, to));
  for (const root of names) {
    if (index.has(root)) continue;
    const path = [enter(root)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { value: callee, done } = top.callees.next();
      if (done !== true) {
        if (!index.has(callee)) path.push(enter(callee));
        else if (isOpen.has(callee)) lower(top.name, index.get(callee) ?? 0);
        continue;
      }
      path.pop();
      const lowest = low.get(top.name) ?? 0;
      const caller = path.at(-1);
      if (caller !== undefined) lower(caller.name, lowest);
      if (lowest !== index.get(top.name)) continue;
      const members = open.splice(open.lastIndexOf(top.name));
      for (const member of members) isOpen.delete(member);
      components.push(members);
    }
  }
  return components;
}

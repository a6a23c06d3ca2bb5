/**
 * `event:a.1`, `entry:focus/F/completion_reward`. The signs that join parts, and those that tell nodes of the same name apart, are written
 * as `%2F` where a mod has them in a name of its own: two nodes of one name would be one node, and the other would be lost.
 */
export function nodeName(kind: string, ...parts: readonly string[]): string {
  return `${kind}:${parts.map(namePart).join("/")}`;
}

export function namePart(name: string): string {
  return name.replaceAll(/[%/#~]/gu, encodeSign);
}

function encodeSign(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The second use of a name gets `~2` behind it, the third `~3`. */
export function counted(taken: Map<string, number>, name: string): string {
  const count = (taken.get(name) ?? 0) + 1;
  taken.set(name, count);
  return count === 1 ? name : `${name}~${count}`;
}

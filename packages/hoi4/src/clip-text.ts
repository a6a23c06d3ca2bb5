/** At most so many UTF-16 units, ending in an ellipsis when something is missing, and never in half a character. */
export function clipText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = limit - 1;
  const splitsPair = /[\uD800-\uDBFF]/u.test(text.charAt(end - 1));
  return `${text.slice(0, splitsPair ? end - 1 : end)}…`;
}

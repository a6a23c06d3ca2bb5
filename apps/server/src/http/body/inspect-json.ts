/** Why JSON that parses is refused all the same. */
export type JsonFault = "deep" | "duplicate" | "huge";

const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const UPPER_E = 69;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const LOWER_E = 101;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Looks through the text of valid JSON for what `JSON.parse` accepts and we do not. `deep`: nested so far that whatever walks it
 * by recursion may run out of stack. `duplicate`: a member named twice, of which a proxy in front may have judged the one
 * that we would not see. `huge`: a number beyond every double, which is read as infinity and is no JSON any more.
 */
export function inspectJson(text: string, maxDepth: number): JsonFault | null {
  // For each container around the position: the names seen in an object, null for a list.
  const containers: (Set<string> | null)[] = [];
  let names: Set<string> | null = null;
  let atName = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case OPEN_OBJECT:
      case OPEN_LIST:
        names = text.charCodeAt(index) === OPEN_OBJECT ? new Set() : null;
        if (containers.push(names) > maxDepth) return "deep";
        atName = names !== null;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        containers.pop();
        names = containers.at(-1) ?? null;
        break;
      case COMMA:
        atName = names !== null;
        break;
      case COLON:
        atName = false;
        break;
      case QUOTE: {
        const end = endOfString(text, index);
        if (atName && names !== null) {
          const name = nameBetween(text, index, end);
          if (names.has(name)) return "duplicate";
          names.add(name);
        }
        index = end;
        break;
      }
      default:
        if (isNumberStart(text.charCodeAt(index))) {
          const end = endOfNumber(text, index);
          if (mayBeHuge(text, index, end) && !Number.isFinite(Number(text.slice(index, end)))) return "huge";
          index = end - 1;
        }
    }
  }
  return null;
}

function isNumberStart(code: number): boolean {
  return code === MINUS || (code >= ZERO && code <= NINE);
}

/** Where the number that begins at `start` has ended: in valid JSON, at whatever can stand behind a value. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isNumberPart(text.charCodeAt(end))) end += 1;
  return end;
}

function isNumberPart(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === MINUS || code === PLUS || code === POINT || isExponent(code);
}

function isExponent(code: number): boolean {
  return code === LOWER_E || code === UPPER_E;
}

/** Without an exponent it takes as many digits as the largest double has. */
function mayBeHuge(text: string, start: number, end: number): boolean {
  if (end - start > 308) return true;
  for (let index = start; index < end; index += 1) if (isExponent(text.charCodeAt(index))) return true;
  return false;
}

/** Where the string that opens at `start` has its closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

/** The same name can be spelled with escapes. */
function nameBetween(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end);
  return name.includes("\\") ? String(JSON.parse(text.slice(start, end + 1))) : name;
}

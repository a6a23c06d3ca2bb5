/** Why JSON that parses is refused all the same. */
export type JsonFault = "deep" | "duplicate" | "huge";

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
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
          const number = numberAt(text, index);
          if (!Number.isFinite(Number(number))) return "huge";
          index += number.length - 1;
        }
    }
  }
  return null;
}

function isNumberStart(code: number): boolean {
  return code === MINUS || (code >= ZERO && code <= NINE);
}

const NUMBER = /[-+.0-9eE]+/uy;

function numberAt(text: string, start: number): string {
  NUMBER.lastIndex = start;
  return NUMBER.exec(text)?.[0] ?? "";
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

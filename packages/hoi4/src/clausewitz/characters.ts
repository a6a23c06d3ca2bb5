/** What a byte may do in script. Up to `inWord` a byte continues a word; `maybeOperator` and `maybeSpace` need a look at the bytes behind. */
export const byteClass = {
  word: 0,
  at: 1,
  semicolon: 2,
  inWord: 2,
  maybeOperator: 3,
  maybeSpace: 4,
  space: 5,
  hash: 6,
  open: 7,
  close: 8,
  quote: 9,
  operator: 10,
  comma: 11,
  control: 12,
} as const;

/**
 * Class of each byte. Everything not named is part of words: scripts use letters of every language and nearly all of ASCII punctuation in names,
 * so a list of allowed characters would always be too short.
 */
export function byteClasses({ singleByte }: { singleByte: boolean }): Uint8Array {
  const classes = new Uint8Array(256);
  classes.fill(byteClass.control, 0x00, 0x20);
  for (const byte of [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]) classes[byte] = byteClass.space;
  // First bytes of U+00A0, U+3000 and U+FEFF.
  for (const byte of singleByte ? [0xa0] : [0xc2, 0xe3, 0xef]) classes[byte] = byteClass.maybeSpace;
  set("#", byteClass.hash);
  set("{", byteClass.open);
  set("}", byteClass.close);
  set('"', byteClass.quote);
  set("=<>", byteClass.operator);
  set("!?", byteClass.maybeOperator);
  set(",", byteClass.comma);
  set(";", byteClass.semicolon);
  set("@", byteClass.at);
  return classes;

  function set(characters: string, value: number): void {
    for (const character of characters) classes[character.charCodeAt(0)] = value;
  }
}

/** Length in bytes of an unusual space or byte order mark at `at`, 0 when the byte there belongs to a word. */
export function oddSpaceLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0xa0:
      return 1;
    case 0xc2:
      return bytes[at + 1] === 0xa0 ? 2 : 0;
    case 0xe3:
      return bytes[at + 1] === 0x80 && bytes[at + 2] === 0x80 ? 3 : 0;
    case 0xef:
      return bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? 3 : 0;
    default:
      return 0;
  }
}

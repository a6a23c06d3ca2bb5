/**
 * A value as the JSON text that stands for it. Throws a `TypeError` for what JSON would lose or change without a word, and a `RangeError`
 * for what is larger than allowed; `what` names the value in both.
 */
export function encodeValue(value: unknown, options: { readonly what: string; readonly maxBytes: number }): string {
  const { what, maxBytes } = options;
  try {
    assertJson(value, what, new Set());
  } catch (error) {
    if (error instanceof RangeError) throw new TypeError(`${what} is nested too deeply to be kept`, { cause: error });
    throw error;
  }
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) throw new RangeError(`${what} of ${bytes} bytes exceeds the ${maxBytes} that can be kept`);
  return json;
}

function assertJson(value: unknown, where: string, above: Set<object>): void {
  if (value === null || typeof value === "boolean" || typeof value === "string") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (typeof value !== "object" || !isPlain(value)) throw new TypeError(`${where} is ${describe(value)}, which has no JSON`);
  if (above.has(value)) throw new TypeError(`${where} contains itself`);
  above.add(value);
  if (Array.isArray(value)) for (const [index, member] of value.entries()) assertJson(member, `${where}[${index}]`, above);
  else for (const [key, member] of Object.entries(value)) assertJson(member, `${where}.${key}`, above);
  above.delete(value);
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in value);
}

function describe(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value !== "object" || value === null) return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
  const { constructor } = value;
  return `an object of class ${typeof constructor === "function" ? constructor.name : "unknown"}`;
}

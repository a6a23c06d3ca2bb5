import { z } from "zod";

/** A JSON Schema whose root is an object, as MCP asks of tools. */
export interface ObjectSchema {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** `input` shows what callers may send: a member with a default is optional. `output` shows what they can rely on. */
export function objectSchema(schema: z.ZodType, io: "input" | "output", tool: string): ObjectSchema {
  return checkedObjectSchema(z.toJSONSchema(schema, { io }), `the ${io} of the tool "${tool}"`);
}

/** Throws, naming `what`, for a schema of anything else: no client could use it. */
export function checkedObjectSchema(schema: unknown, what: string): ObjectSchema {
  const parsed = objectSchemaSchema.safeParse(schema);
  if (!parsed.success) throw new Error(`${what} is not an object`);
  return parsed.data;
}

const objectSchemaSchema = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string(), z.unknown()).exactOptional(),
  required: z.array(z.string()).exactOptional(),
});

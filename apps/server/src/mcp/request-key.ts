import { isStorableText, type JsonObject, type Operation } from "@holdfast/core";
import type { ObjectSchema } from "./object-schema.ts";
import { invalidArguments } from "./parse-arguments.ts";

/** The argument that every operation which writes has beside its own: the caller's name for the request (contract 4.1). */
const NAME = "requestKey";
const MAX_CHARACTERS = 256;

/** The schema with the key in it. Throws for an operation that has an argument of that name itself. */
export function withRequestKey(schema: ObjectSchema, operation: Pick<Operation, "name" | "tasks">): ObjectSchema {
  const { properties = {}, required = [] } = schema;
  if (Object.hasOwn(properties, NAME)) throw new Error(`the operation "${operation.name}" has an argument "${NAME}" of its own`);
  const isRequired = operation.tasks === "required";
  return {
    ...schema,
    properties: {
      ...properties,
      [NAME]: {
        type: "string",
        minLength: 1,
        maxLength: MAX_CHARACTERS,
        description:
          "Your name for this request: the same key with the same arguments returns the same task and what came of it, however often it is sent, also when that was an error or a refusal. With other arguments it is refused, so a request that was put right takes another key. Needed to run as a task.",
      },
    },
    ...(isRequired ? { required: [...required, NAME] } : {}),
  };
}

/** Arguments as they came, taken apart: the key, null when there is none, and what the operation itself declares. */
export function takeRequestKey(given: JsonObject): { readonly key: string | null; readonly input: JsonObject } {
  const { [NAME]: key, ...input } = given;
  if (key === undefined) return { key: null, input };
  const isKey = typeof key === "string" && key !== "" && isStorableText(key) && Array.from(key).length <= MAX_CHARACTERS;
  if (isKey) return { key, input };
  throw invalidArguments([
    { path: NAME, message: `expected a text of 1 to ${MAX_CHARACTERS} characters, without NUL or half of a surrogate pair` },
  ]);
}

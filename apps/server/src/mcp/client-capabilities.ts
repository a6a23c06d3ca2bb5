import type { InputMethod, InputRequest, InputRequests, JsonObject } from "@holdfast/core";

/**
 * Which client capabilities are missing for these questions, as MCP spells them for `data.requiredCapabilities`; null when none is. A
 * server must not ask for what the request did not declare.
 */
export function missingCapabilities(requests: InputRequests, declared: JsonObject): JsonObject | null {
  return missingOf(Object.values(requests).map(capabilityOf), declared);
}

/** The same before a question is known: an operation may ask by these methods, in whatever mode. */
export function missingForMethods(methods: readonly InputMethod[], declared: JsonObject): JsonObject | null {
  return missingOf(
    methods.map((method) => ({ name: CAPABILITY_OF_METHOD[method], member: null })),
    declared,
  );
}

/** A capability, and the part of it that must be declared where it has parts. */
interface Need {
  readonly name: "elicitation" | "sampling" | "roots";
  readonly member: "form" | "url" | "tools" | null;
}

const CAPABILITY_OF_METHOD: Readonly<Record<InputMethod, Need["name"]>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** What the questions of this file are answered from, and nothing else of what was declared, however much that was. */
export function askedCapabilities(declared: JsonObject): JsonObject {
  const asked = Object.entries(MEMBERS_OF_CAPABILITY).flatMap(([name, members]) => {
    const capability = declared[name];
    return isObject(capability) ? [[name, shapeOf(capability, members)] as const] : [];
  });
  return Object.fromEntries(asked);
}

function shapeOf(capability: JsonObject, members: readonly string[]): JsonObject {
  const present = members.filter((member) => capability[member] !== undefined);
  return Object.fromEntries(present.map((member) => [member, isObject(capability[member]) ? {} : null]));
}

const MEMBERS_OF_CAPABILITY: Readonly<Record<Need["name"], readonly string[]>> = {
  elicitation: ["form", "url"],
  sampling: ["tools"],
  roots: [],
};

function capabilityOf({ method, params }: InputRequest): Need {
  const name = CAPABILITY_OF_METHOD[method];
  switch (method) {
    case "elicitation/create":
      return { name, member: params["mode"] === "url" ? "url" : "form" };
    case "sampling/createMessage":
      return { name, member: params["tools"] === undefined && params["toolChoice"] === undefined ? null : "tools" };
    case "roots/list":
      return { name, member: null };
  }
}

function missingOf(needs: readonly Need[], declared: JsonObject): JsonObject | null {
  const missing: Record<string, Record<string, JsonObject>> = {};
  for (const { name, member } of needs) {
    if (isDeclared(declared, name, member)) continue;
    missing[name] = { ...missing[name], ...(member === null ? {} : { [member]: {} }) };
  }
  return Object.keys(missing).length === 0 ? null : missing;
}

function isDeclared(declared: JsonObject, name: Need["name"], member: Need["member"]): boolean {
  const capability = declared[name];
  if (!isObject(capability)) return false;
  if (member === null || isObject(capability[member])) return true;
  // Before there were modes, a bare `elicitation: {}` meant forms, and still does.
  return member === "form" && capability["url"] === undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

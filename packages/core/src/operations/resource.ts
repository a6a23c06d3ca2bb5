import type { Complete } from "./prompt.ts";

/** A resource that a pack offers beside the artifacts: a pure function of the manifest, answered by the node itself. */
export interface FixedResource extends ResourceDescription {
  readonly uri: string;
  read(): ResourceBody;
}

/** A family of resources: one for every value of the variables in its URI. */
export interface ResourceTemplate extends ResourceDescription {
  /** RFC 6570 of level 1: `{name}` stands for one segment's worth of text. */
  readonly uriTemplate: string;
  /** Null when there is no such resource. */
  read(variables: ResourceVariables): ResourceBody | null;
  /** Values of a variable that begin as the caller has begun, best first. */
  readonly complete?: Readonly<Record<string, Complete>>;
}

export interface ResourceDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

export type ResourceBody = { readonly text: string } | { readonly bytes: Uint8Array };
export type ResourceVariables = Readonly<Record<string, string>>;

/** The values with which the template makes this URI, or null when it does not. Variables match at least one character and no `/`. */
export function matchUriTemplate(template: string, uri: string): ResourceVariables | null {
  const names: string[] = [];
  const pattern = template
    .split(VARIABLE)
    .map((part, index) => {
      if (index % 2 === 0) return part.replaceAll(/[.*+?^${}()|[\]\\/]/gu, String.raw`\$&`);
      names.push(part);
      return "([^/?#]+)";
    })
    .join("");
  const values = new RegExp(`^${pattern}$`, "u").exec(uri);
  if (values === null) return null;
  const variables: [string, string][] = [];
  for (const [index, name] of names.entries()) {
    const value = decoded(values[index + 1] ?? "");
    if (value === null) return null;
    variables.push([name, value]);
  }
  return Object.fromEntries(variables);
}

/** Names of the variables of a template, in order. */
export function variablesOf(template: string): readonly string[] {
  return template.split(VARIABLE).filter((_part, index) => index % 2 === 1);
}

const VARIABLE = /\{([A-Za-z0-9_]+)\}/u;

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

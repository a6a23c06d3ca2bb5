import { AppError, matchUriTemplate, type FixedResource, type Pack, type ResourceBody, type ResourceTemplate } from "@holdfast/core";

export interface ResourceContent {
  readonly uri: string;
  readonly mimeType: string;
  readonly body: ResourceBody;
}

/** The resources that packs bring, answered by the node itself. */
export interface ResourceService {
  readonly resources: readonly FixedResource[];
  readonly templates: readonly ResourceTemplate[];
  /** Throws `AppError` "artifact_not_found", naming the URI, when no pack has such a resource. */
  read(uri: string): ResourceContent;
  /** Throws `AppError` "artifact_not_found" likewise. */
  findTemplate(uriTemplate: string): ResourceTemplate;
}

/** Throws when two packs share a URI. */
export function createResourceService(packs: readonly Pack[]): ResourceService {
  const resources = packs.flatMap((pack) => pack.resources);
  const templates = packs.flatMap((pack) => pack.resourceTemplates);
  const byUri = new Map(resources.map((resource) => [resource.uri, resource]));
  if (byUri.size < resources.length) throw new Error("two packs define a resource of one URI");
  const notFound = (uri: string): AppError => new AppError("artifact_not_found", "no pack has such a resource", { data: { uri } });
  return {
    resources,
    templates,
    read: (uri) => {
      const fixed = byUri.get(uri);
      if (fixed !== undefined) return { uri, mimeType: fixed.mimeType, body: fixed.read() };
      for (const template of templates) {
        const variables = matchUriTemplate(template.uriTemplate, uri);
        const body = variables === null ? null : template.read(variables);
        if (body !== null) return { uri, mimeType: template.mimeType, body };
      }
      throw notFound(uri);
    },
    findTemplate: (uriTemplate) => {
      const found = templates.find((template) => template.uriTemplate === uriTemplate);
      if (found === undefined) throw notFound(uriTemplate);
      return found;
    },
  };
}

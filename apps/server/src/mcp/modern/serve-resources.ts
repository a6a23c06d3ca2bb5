import type { Result } from "@modelcontextprotocol/server";
import { ARTIFACT_URI_TEMPLATE, type ResourceBody } from "@holdfast/core";
import { z } from "zod";
import type { ArtifactRange, ArtifactService } from "../artifact-service.ts";
import type { ResourceContent, ResourceService } from "../resource-service.ts";
import { listParamsSchema } from "./list-params.ts";
import type { Serve } from "../serve.ts";

/** Artifacts are named by the results that made them; listing all of a workspace would be its whole history. */
export function serveResources(serve: Serve, artifacts: ArtifactService, service: ResourceService): void {
  const resources = service.resources.map(({ uri, name, title, description, mimeType }) => ({ uri, name, title, description, mimeType }));
  const resourceTemplates = [
    ARTIFACT_TEMPLATE,
    ...service.templates.map(({ uriTemplate, name, title, description, mimeType }) => ({
      uriTemplate,
      name,
      title,
      description,
      mimeType,
    })),
  ];
  serve("resources/list", listParamsSchema, async () => ({ resources }));
  serve("resources/templates/list", listParamsSchema, async () => ({ resourceTemplates }));
  serve("resources/read", readParamsSchema, async ({ uri }, { caller }) =>
    uri.startsWith(ARTIFACT_SCHEME) ? artifactResult(await artifacts.read(caller.principal, uri)) : resourceResult(service.read(uri)),
  );
}

const ARTIFACT_SCHEME = "holdfast:";
const ARTIFACT_TEMPLATE = {
  name: "artifact",
  title: "Artifact of a workspace",
  description: "Output of an operation, named by its SHA-256. offset and length select bytes; one read returns at most 1 MiB.",
  uriTemplate: ARTIFACT_URI_TEMPLATE,
};

const readParamsSchema = z.object({ uri: z.string() });

function artifactResult(range: ArtifactRange): Result {
  const { uri, mediaType, text, bytes, offset, totalBytes, next } = range;
  return {
    contents: [{ uri, mimeType: mediaType, ...bodyJson(text === null ? { bytes } : { text }) }],
    _meta: {
      "holdfast/range": { offset, length: bytes.byteLength },
      "holdfast/totalBytes": totalBytes,
      "holdfast/continuationUri": next,
    },
  };
}

function resourceResult({ uri, mimeType, body }: ResourceContent): Result {
  return { contents: [{ uri, mimeType, ...bodyJson(body) }] };
}

function bodyJson(body: ResourceBody): Record<string, string> {
  return "text" in body ? { text: body.text } : { blob: Buffer.from(body.bytes).toString("base64") };
}

import { defineOperation, type JsonObject } from "@holdfast/core";
import { z } from "zod";
import { common, nothing, workspaceId } from "./common.ts";

// Operations that take time, fail, say how far they are, or are called in particular ways.

export const greet = defineOperation({
  ...common,
  name: "greet",
  title: "Greet",
  description: "Greets somebody by name, at once.",
  input: z.object({ workspaceId, name: z.string() }),
  tasks: "forbidden",
});

export const slowCompute = defineOperation({
  ...common,
  name: "slow_compute",
  title: "Slow computation",
  description: "Takes as many seconds as it is told to and can be cancelled meanwhile.",
  input: z.object({ workspaceId, seconds: z.number().min(0).max(120).default(0), label: z.string().default("unnamed") }),
});

export const failingJob = defineOperation({
  ...common,
  name: "failing_job",
  title: "Failing job",
  description: "Reports an error of its own after a second.",
  input: nothing,
  tasks: "required",
});

export const protocolErrorJob = defineOperation({
  ...common,
  name: "protocol_error_job",
  title: "Broken job",
  description: "Throws instead of answering.",
  input: nothing,
});

export const withProgress = defineOperation({
  ...common,
  name: "test_tool_with_progress",
  title: "Progress",
  description: "Says three times how far it is.",
  input: nothing,
});

export const withLogging = defineOperation({
  ...common,
  name: "test_logging_tool",
  title: "Logging",
  description: "Works in silence: no operation writes to its client's log.",
  input: nothing,
});

export const withLog = defineOperation({
  ...common,
  name: "test_tool_with_logging",
  title: "Progress in words",
  description: "Says three times what it does.",
  input: nothing,
});

export const headerParameter = defineOperation({
  ...common,
  name: "test_header_parameter",
  title: "Parameter in a header",
  description: "Echoes a parameter that travels in a header of its own as well.",
  input: z.object({ workspaceId, region: z.string().meta({ "x-mcp-header": "Region" }) }),
});

/** Keywords that no zod schema writes, all of which clients must be shown. */
const CONTACT_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

export const jsonSchema = defineOperation({
  ...common,
  name: "json_schema_2020_12_tool",
  title: "JSON Schema 2020-12",
  description: "Takes a contact, described by a schema of many keywords.",
  input: z.object({
    workspaceId,
    name: z.string().optional(),
    address: z.object({ street: z.string().optional(), city: z.string().optional() }).optional(),
    contactMethod: z.enum(["phone", "email"]).optional(),
    phone: z.string().optional(),
    email: z.string().optional(),
  }),
  shownInput: CONTACT_SCHEMA,
});

/** Not of the suite: our own tests read the artifact in ranges. */
export const writeArtifact = defineOperation({
  ...common,
  name: "write_artifact",
  title: "Write an artifact",
  description: "Stores a text as an artifact and links it.",
  input: z.object({ workspaceId, text: z.string(), mimeType: z.string().default("text/plain") }),
});

import { defineOperation, definePack } from "@holdfast/core";
import { z } from "zod";

// The operations that the official MCP conformance suite expects of a server, under the names it calls them by.

const workspaceId = z.string().default("current").describe("The workspace to work in.");
const nothing = z.object({ workspaceId });
const shared = { version: 1, effect: "read" as const };

export const greet = defineOperation({
  ...shared,
  name: "greet",
  title: "Greet",
  description: "Greets somebody by name, at once.",
  input: z.object({ workspaceId, name: z.string() }),
  tasks: "forbidden",
});

export const slowCompute = defineOperation({
  ...shared,
  name: "slow_compute",
  title: "Slow computation",
  description: "Takes as many seconds as it is told to and can be cancelled meanwhile.",
  input: z.object({ workspaceId, seconds: z.number().min(0).max(120).default(0), label: z.string().default("unnamed") }),
});

export const failingJob = defineOperation({
  ...shared,
  name: "failing_job",
  title: "Failing job",
  description: "Reports an error of its own after a second.",
  input: nothing,
  tasks: "required",
});

export const protocolErrorJob = defineOperation({
  ...shared,
  name: "protocol_error_job",
  title: "Broken job",
  description: "Throws instead of answering.",
  input: nothing,
});

export const simpleText = defineOperation({
  ...shared,
  name: "test_simple_text",
  title: "Text",
  description: "Answers a text.",
  input: nothing,
});
export const imageContent = defineOperation({
  ...shared,
  name: "test_image_content",
  title: "Image",
  description: "Answers an image.",
  input: nothing,
});
export const audioContent = defineOperation({
  ...shared,
  name: "test_audio_content",
  title: "Audio",
  description: "Answers a sound.",
  input: nothing,
});
export const embeddedResource = defineOperation({
  ...shared,
  name: "test_embedded_resource",
  title: "Embedded resource",
  description: "Answers a resource inside the result.",
  input: nothing,
});
export const mixedContent = defineOperation({
  ...shared,
  name: "test_multiple_content_types",
  title: "Mixed content",
  description: "Answers a text, an image and a resource.",
  input: nothing,
});
export const errorHandling = defineOperation({
  ...shared,
  name: "test_error_handling",
  title: "Error",
  description: "Answers an error of the tool.",
  input: nothing,
});

/** Not of the suite: our own tests read the artifact in ranges. */
export const writeArtifact = defineOperation({
  ...shared,
  name: "write_artifact",
  title: "Write an artifact",
  description: "Stores a text as an artifact and links it.",
  input: z.object({ workspaceId, text: z.string(), mimeType: z.string().default("text/plain") }),
});

export const pack = definePack({
  name: "conformance",
  operations: [
    // First, because the suite calls the first tool of the list without arguments.
    simpleText,
    greet,
    slowCompute,
    failingJob,
    protocolErrorJob,
    imageContent,
    audioContent,
    embeddedResource,
    mixedContent,
    errorHandling,
    writeArtifact,
  ],
});

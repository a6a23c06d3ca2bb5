import { setTimeout as delay } from "node:timers/promises";
import { handle, toolResult, type ContentBlock, type HandledOperation } from "@holdfast/core";
import {
  audioContent,
  embeddedResource,
  errorHandling,
  failingJob,
  greet,
  imageContent,
  mixedContent,
  protocolErrorJob,
  simpleText,
  slowCompute,
  writeArtifact,
} from "./manifest.ts";

/** One grey pixel, and one silent sample. */
const PNG: ContentBlock = {
  type: "image",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
  mimeType: "image/png",
};
const WAV: ContentBlock = {
  type: "audio",
  data: "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==",
  mimeType: "audio/wav",
};

// The suite compares some of these texts letter by letter.
export const handlers: readonly HandledOperation[] = [
  handle(greet, async ({ name }) => toolResult({ text: `Hello, ${name}!` })),
  handle(slowCompute, async ({ seconds, label }, context) => {
    context.progress({ value: 0, total: seconds, message: `computing ${label}` });
    await delay(seconds * 1000, undefined, { signal: context.signal });
    return toolResult({ text: `${label} took ${seconds} s`, structured: { seconds, label } });
  }),
  handle(failingJob, async (_input, context) => {
    await delay(1000, undefined, { signal: context.signal });
    return toolResult({ text: "The job failed, as it always does.", isError: true });
  }),
  handle(protocolErrorJob, async () => {
    throw new Error("this text must not reach the caller");
  }),
  handle(simpleText, async () => toolResult({ text: "This is a simple text response for testing." })),
  handle(imageContent, async () => ({ content: [PNG] })),
  handle(audioContent, async () => ({ content: [WAV] })),
  handle(embeddedResource, async () => ({
    content: [
      {
        type: "resource",
        resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." },
      },
    ],
  })),
  handle(mixedContent, async () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      PNG,
      {
        type: "resource",
        resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' },
      },
    ],
  })),
  handle(errorHandling, async () => toolResult({ text: "This tool intentionally returns an error for testing", isError: true })),
  handle(writeArtifact, async ({ text, mimeType }, context) => {
    const link = await context.artifact({ name: "written.txt", mimeType, bytes: new TextEncoder().encode(text) });
    return toolResult({ text: "written", links: [link] });
  }),
];

import { setTimeout as delay } from "node:timers/promises";
import {
  handle,
  toolResult,
  type ContentBlock,
  type HandledOperation,
  type InputRequests,
  type OperationContext,
  type ToolResult,
} from "@holdfast/core";
import { z } from "zod";
import * as asking from "./asking.ts";
import * as content from "./content.ts";
import * as jobs from "./jobs.ts";
import * as questions from "./questions.ts";
import { elicited, rootsOf, sampled } from "./questions.ts";
import { PNG, WAV } from "./samples.ts";

/** The suite counts three reports, and those of one half second travel as one. */
const PROGRESS_STEP_MS = 700;
const IMAGE: ContentBlock = { type: "image", ...PNG };

// The suite compares some of these texts letter by letter.
const contentHandlers: readonly HandledOperation[] = [
  handle(content.simpleText, async () => toolResult({ text: "This is a simple text response for testing." })),
  handle(content.imageContent, async () => ({ content: [IMAGE] })),
  handle(content.audioContent, async () => ({ content: [{ type: "audio", ...WAV }] })),
  handle(content.embeddedResource, async () => ({
    content: [
      {
        type: "resource",
        resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." },
      },
    ],
  })),
  handle(content.mixedContent, async () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      IMAGE,
      {
        type: "resource",
        resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' },
      },
    ],
  })),
  handle(content.errorHandling, async () => toolResult({ text: "This tool intentionally returns an error for testing", isError: true })),
];

const jobHandlers: readonly HandledOperation[] = [
  handle(jobs.greet, async ({ name }) => toolResult({ text: `Hello, ${name}!` })),
  handle(jobs.slowCompute, async ({ seconds, label }, context) => {
    context.progress({ value: 0, total: seconds, message: `computing ${label}` });
    await delay(seconds * 1000, undefined, { signal: context.signal });
    return toolResult({ text: `${label} took ${seconds} s`, structured: { seconds, label } });
  }),
  handle(jobs.failingJob, async (_input, context) => {
    await delay(1000, undefined, { signal: context.signal });
    return toolResult({ text: "The job failed, as it always does.", isError: true });
  }),
  handle(jobs.protocolErrorJob, async () => {
    throw new Error("this text must not reach the caller");
  }),
  handle(jobs.withProgress, async (_input, context) => {
    for (const value of [0, 50, 100]) {
      context.progress({ value, total: 100 });
      await delay(PROGRESS_STEP_MS, undefined, { signal: context.signal });
    }
    return toolResult({ text: "Said three times how far it was." });
  }),
  handle(jobs.withLogging, async () => toolResult({ text: "Logged nothing." })),
  handle(jobs.withLog, async (_input, context) => {
    for (const [value, message] of ["Tool execution started", "Tool processing data", "Tool execution completed"].entries()) {
      context.progress({ value, message });
      await delay(PROGRESS_STEP_MS, undefined, { signal: context.signal });
    }
    return toolResult({ text: "Said three times what it did." });
  }),
  handle(jobs.headerParameter, async ({ region }) => toolResult({ text: `The region is ${region}.` })),
  handle(jobs.jsonSchema, async ({ name = "somebody" }) => toolResult({ text: `A contact of ${name}.` })),
  handle(jobs.writeArtifact, async ({ text, mimeType }, context) => {
    const link = await context.artifact({ name: "written.txt", mimeType, bytes: new TextEncoder().encode(text) });
    return toolResult({ text: "written", links: [link] });
  }),
];
const askingHandlers: readonly HandledOperation[] = [
  handle(asking.elicitation, greetByName),
  handle(asking.nameForTask, greetByName),
  handle(asking.streamingElicitation, greetByName),
  handle(asking.sampling, capitalByModel),
  handle(asking.missingCapability, capitalByModel),
  handle(asking.roots, async (_input, context) => {
    const { client_roots: roots } = await context.input(questions.askRoots);
    return toolResult({ text: `Roots: ${rootsOf(roots)?.join(", ") ?? "none"}` });
  }),
  handle(asking.requestState, confirmState),
  handle(asking.tamperedState, confirmState),
  handle(asking.multipleInputs, async (_input, context) => {
    const answers = await context.input(questions.askThree);
    const name = elicited(answers, "user_name", "name") ?? "nameless";
    return toolResult({
      text: `${sampled(answers["greeting"]) ?? "Hello"} ${name}, of ${rootsOf(answers["client_roots"])?.length ?? 0} roots`,
    });
  }),
  handle(asking.multiRound, async (_input, context) => {
    const first = await context.input(questions.askFirstStep);
    const second = await context.input(questions.askSecondStep);
    const name = elicited(first, "step1", "name") ?? "Nobody";
    return toolResult({ text: `${name} likes ${elicited(second, "step2", "color") ?? "no color"}` });
  }),
  handle(asking.capabilities, async () => toolResult({ text: "Asked what could be answered." })),
  handle(asking.confirmDelete, async ({ filename }, context) => {
    const answers = await context.input(questions.askDeletion(filename));
    const isConfirmed = elicited(answers, "confirm", "confirm") === "true";
    return toolResult({ text: isConfirmed ? `Would delete ${filename}.` : `Would keep ${filename}.` });
  }),
  handle(asking.multiInput, async (_input, context) => {
    const answers = await context.input(questions.askTwoNames);
    return toolResult({ text: `${elicited(answers, "first", "name") ?? "?"} and ${elicited(answers, "second", "name") ?? "?"}` });
  }),
  handle(asking.samplesPrompt, async ({ prompt }, context) => {
    const { model } = await context.input(questions.askModel(prompt));
    return toolResult({ text: `LLM response: ${sampled(model) ?? "none"}` });
  }),
  handle(asking.elicitsContact, async ({ message }, context) => {
    const { contact } = await context.input(questions.askContact(message));
    return toolResult({ text: `User response: ${JSON.stringify(contact)}` });
  }),
  handle(asking.elicitsDefaults, (_input, context) => showForm(context, questions.askWithDefaults)),
  handle(asking.elicitsChoices, (_input, context) => showForm(context, questions.askChoices)),
];

export const handlers: readonly HandledOperation[] = [...contentHandlers, ...jobHandlers, ...askingHandlers];

async function greetByName(_input: unknown, context: OperationContext): Promise<ToolResult> {
  const answers = await context.input(questions.askName);
  return toolResult({ text: `Hello, ${elicited(answers, "user_name", "name") ?? "nameless"}!` });
}

async function capitalByModel(_input: unknown, context: OperationContext): Promise<ToolResult> {
  const { capital_question: answer } = await context.input(questions.askCapital);
  return toolResult({ text: sampled(answer) ?? "The model said nothing." });
}

async function confirmState(_input: unknown, context: OperationContext): Promise<ToolResult> {
  const answers = await context.input(questions.askConsent);
  return toolResult({ text: elicited(answers, "confirm", "ok") === "true" ? "state-ok" : "declined" });
}

async function showForm(context: OperationContext, form: InputRequests): Promise<ToolResult> {
  const { form: answer } = await context.input(form);
  const { action, content: filled } = z.object({ action: z.string(), content: z.unknown() }).parse(answer);
  return toolResult({ text: `Elicitation completed: action=${action}, content=${JSON.stringify(filled)}` });
}

import type { AskRound, InputRequest, InputRequests, JsonObject } from "@holdfast/core";
import { z } from "zod";

// The questions that the pack asks under the keys that the suite answers, and what became of them.

export const askName: InputRequests = { user_name: elicit("What is your name?", "name") };
export const askCapital: InputRequests = { capital_question: sample("What is the capital of France?", 100) };
export const askRoots: InputRequests = { client_roots: { method: "roots/list", params: {} } };
export const askConsent: InputRequests = { confirm: elicit("Please confirm", "ok", "boolean") };
export const askThree: InputRequests = { ...askName, greeting: sample("Generate a greeting", 50), ...askRoots };
export const askFirstStep: InputRequests = { step1: elicit("Step 1: What is your name?", "name") };
export const askSecondStep: InputRequests = { step2: elicit("Step 2: What is your favorite color?", "color") };
export const askTwoNames: InputRequests = { first: elicit("The first name?", "name"), second: elicit("The second name?", "name") };
export const askContext: InputRequests = { user_context: elicit("What context should the prompt use?", "context") };

export function askDeletion(filename: string): InputRequests {
  return { confirm: elicit(`Delete ${filename}?`, "confirm", "boolean") };
}

export function askModel(prompt: string): InputRequests {
  return { model: sample(prompt, 100) };
}

export function askContact(message: string): InputRequests {
  const username = { type: "string", description: "User's response" };
  const email = { type: "string", description: "User's email address" };
  return { contact: showForm(message, { username, email }, ["username", "email"]) };
}

export const askWithDefaults: InputRequests = {
  form: showForm("Check what is filled in.", {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  }),
};

const TITLED = [
  { const: "value1", title: "First" },
  { const: "value2", title: "Second" },
  { const: "value3", title: "Third" },
];
export const askChoices: InputRequests = {
  form: showForm("Choose.", {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: TITLED },
    legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
    untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
    titledMulti: { type: "array", items: { anyOf: TITLED } },
  }),
};

function showForm(message: string, properties: JsonObject, required: readonly string[] = []): InputRequest {
  return { method: "elicitation/create", params: { message, requestedSchema: { type: "object", properties, required: [...required] } } };
}

/** A form with one field. */
function elicit(message: string, field: string, type: "string" | "boolean" = "string"): InputRequest {
  return {
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: { type: "object", properties: { [field]: { type } }, required: [field] } },
  };
}

function sample(text: string, maxTokens: number): InputRequest {
  return { method: "sampling/createMessage", params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens } };
}

const elicitedSchema = z.discriminatedUnion("action", [
  z.object({ action: z.literal("accept"), content: z.record(z.string(), z.unknown()) }),
  z.object({ action: z.enum(["decline", "cancel"]) }),
]);
const sampledSchema = z.object({ content: z.object({ type: z.literal("text"), text: z.string() }) });
const rootsSchema = z.object({ roots: z.array(z.object({ uri: z.string() })) });

/** What a form's field was filled in with; null when the form was declined, undefined without an answer that fits. */
export function elicited(answers: AskRound["answers"], key: string, field: string): string | null | undefined {
  const answer = elicitedSchema.safeParse(answers[key]);
  if (!answer.success) return undefined;
  if (answer.data.action !== "accept") return null;
  const value = answer.data.content[field];
  return typeof value === "string" || typeof value === "boolean" ? String(value) : undefined;
}

export function sampled(answer: JsonObject | undefined): string | undefined {
  return sampledSchema.safeParse(answer).data?.content.text;
}

export function rootsOf(answer: JsonObject | undefined): readonly string[] | undefined {
  return rootsSchema.safeParse(answer).data?.roots.map(({ uri }) => uri);
}

import { defineOperation } from "@holdfast/core";
import { z } from "zod";
import { common, nothing, workspaceId } from "./common.ts";
import {
  askCapital,
  askConsent,
  askFirstStep,
  askName,
  askRoots,
  askSecondStep,
  askThree,
  elicited,
  rootsOf,
  sampled,
} from "./questions.ts";

// Operations that ask the client: before there is a task, or in the middle of one.

const isGiven = (value: unknown): boolean => value !== undefined;

export const elicitation = defineOperation({
  ...common,
  name: "test_input_required_result_elicitation",
  title: "Asks for a name",
  description: "Greets the person at the client by the name it gives.",
  input: nothing,
  askFirst: (_input, { answers }) => (isGiven(elicited(answers, "user_name", "name")) ? null : askName),
});

export const sampling = defineOperation({
  ...common,
  name: "test_input_required_result_sampling",
  title: "Asks a model",
  description: "Lets the client's model answer a question.",
  input: nothing,
  askFirst: (_input, { answers }) => (isGiven(sampled(answers["capital_question"])) ? null : askCapital),
});

export const roots = defineOperation({
  ...common,
  name: "test_input_required_result_list_roots",
  title: "Asks for the roots",
  description: "Repeats the roots of the client.",
  input: nothing,
  askFirst: (_input, { answers }) => (isGiven(rootsOf(answers["client_roots"])) ? null : askRoots),
});

export const requestState = defineOperation({
  ...common,
  name: "test_input_required_result_request_state",
  title: "Asks for consent",
  description: "Says that the state of the question came back.",
  input: nothing,
  askFirst: (_input, { answers }) => (isGiven(elicited(answers, "confirm", "ok")) ? null : askConsent),
});

export const tamperedState = defineOperation({
  ...requestState,
  name: "test_input_required_result_tampered_state",
  title: "Asks for consent, to be tampered with",
  description: "Must never run with a state that was changed on its way.",
});

export const multipleInputs = defineOperation({
  ...common,
  name: "test_input_required_result_multiple_inputs",
  title: "Asks three things",
  description: "Asks for a name, a greeting and the roots at once.",
  input: nothing,
  askFirst: (_input, { answers }) =>
    isGiven(elicited(answers, "user_name", "name")) && isGiven(sampled(answers["greeting"])) && isGiven(rootsOf(answers["client_roots"]))
      ? null
      : askThree,
});

export const multiRound = defineOperation({
  ...common,
  name: "test_input_required_result_multi_round",
  title: "Asks twice",
  description: "Asks for a name and then, knowing it, for a color.",
  input: nothing,
  askFirst: (_input, { answers }) => {
    if (!isGiven(elicited(answers, "step1", "name"))) return askFirstStep;
    return isGiven(elicited(answers, "step2", "color")) ? null : askSecondStep;
  },
});

export const capabilities = defineOperation({
  ...common,
  name: "test_input_required_result_capabilities",
  title: "Asks what the client can answer",
  description: "Asks the client's model where there is one, and the person at it where that is possible.",
  input: nothing,
  askFirst: (_input, { answers, capabilities: declared }) => {
    if (isGiven(sampled(answers["capital_question"])) || isGiven(elicited(answers, "user_name", "name"))) return null;
    const questions = {
      ...(declared["sampling"] === undefined ? {} : askCapital),
      ...(declared["elicitation"] === undefined ? {} : askName),
    };
    return Object.keys(questions).length === 0 ? null : questions;
  },
});

export const nameForTask = defineOperation({
  ...common,
  name: "test_tool_with_task",
  title: "Asks, then runs as a task",
  description: "Greets by name, as a task that is created when the name is known.",
  input: nothing,
  tasks: "required",
  askFirst: (_input, { answers }) => (isGiven(elicited(answers, "user_name", "name")) ? null : askName),
});

export const missingCapability = defineOperation({
  ...common,
  name: "test_missing_capability",
  title: "Needs a model",
  description: "Cannot do without the client's model.",
  input: nothing,
  asks: ["sampling/createMessage"],
});

export const streamingElicitation = defineOperation({
  ...common,
  name: "test_streaming_elicitation",
  title: "Asks in the middle",
  description: "Asks for a name after it has begun.",
  input: nothing,
  asks: ["elicitation/create"],
});

export const confirmDelete = defineOperation({
  ...common,
  name: "confirm_delete",
  title: "Confirm a deletion",
  description: "Asks whether to delete a file. Deletes nothing.",
  input: z.object({ workspaceId, filename: z.string() }),
  asks: ["elicitation/create"],
});

export const multiInput = defineOperation({
  ...common,
  name: "multi_input",
  title: "Asks two things in the middle",
  description: "Asks for two names at once after it has begun.",
  input: nothing,
  asks: ["elicitation/create"],
});

export const samplesPrompt = defineOperation({
  ...common,
  name: "test_sampling",
  title: "Asks a model in the middle",
  description: "Lets the client's model answer a prompt.",
  input: z.object({ workspaceId, prompt: z.string() }),
  asks: ["sampling/createMessage"],
});

export const elicitsContact = defineOperation({
  ...common,
  name: "test_elicitation",
  title: "Asks for a contact",
  description: "Asks the person at the client for a name and an address.",
  input: z.object({ workspaceId, message: z.string() }),
  asks: ["elicitation/create"],
});

export const elicitsDefaults = defineOperation({
  ...common,
  name: "test_elicitation_sep1034_defaults",
  title: "Asks with defaults",
  description: "Shows a form whose fields are filled in already.",
  input: nothing,
  asks: ["elicitation/create"],
});

export const elicitsChoices = defineOperation({
  ...common,
  name: "test_elicitation_sep1330_enums",
  title: "Asks for choices",
  description: "Shows a form with every kind of choice.",
  input: nothing,
  asks: ["elicitation/create"],
});

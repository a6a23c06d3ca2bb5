import type { Prompt, PromptMessage } from "@holdfast/core";
import { askContext, elicited } from "./questions.ts";
import { PNG } from "./samples.ts";

const user = (content: PromptMessage["content"]): PromptMessage => ({ role: "user", content });
const text = (words: string): PromptMessage => user({ type: "text", text: words });

const CITIES = ["paris", "park", "party", "test", "testValue1"];

export const prompts: readonly Prompt[] = [
  {
    name: "test_simple_prompt",
    title: "Simple prompt",
    description: "Says one sentence.",
    arguments: [],
    messages: () => [text("This is a simple prompt for testing.")],
  },
  {
    name: "test_prompt_with_arguments",
    title: "Prompt with arguments",
    description: "Repeats its arguments.",
    arguments: [
      { name: "arg1", description: "The first.", required: true, complete: (begun) => CITIES.filter((word) => word.startsWith(begun)) },
      { name: "arg2", description: "The second.", required: true },
    ],
    messages: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    name: "test_prompt_with_embedded_resource",
    title: "Prompt with a resource",
    description: "Embeds the resource that it is given.",
    arguments: [{ name: "resourceUri", description: "Of the resource to embed.", required: true }],
    messages: ({ resourceUri }) => [
      user({
        type: "resource",
        resource: { uri: resourceUri ?? "", mimeType: "text/plain", text: "Embedded resource content for testing." },
      }),
      text("Please process the embedded resource above."),
    ],
  },
  {
    name: "test_prompt_with_image",
    title: "Prompt with an image",
    description: "Shows an image.",
    arguments: [],
    messages: () => [user({ type: "image", ...PNG }), text("Please analyze the image above.")],
  },
  {
    name: "test_input_required_result_prompt",
    title: "Prompt that asks",
    description: "Asks for its context first.",
    arguments: [],
    askFirst: (_given, { answers }) => (elicited(answers, "user_context", "context") === undefined ? askContext : null),
    messages: (_given, answers) => [text(`Context: ${elicited(answers, "user_context", "context") ?? "none"}`)],
  },
];

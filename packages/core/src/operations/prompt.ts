import type { InputRequests } from "../tasks/input.ts";
import type { AskRound } from "./operation.ts";
import type { ContentBlock } from "./tool-result.ts";

/** A text for models that a pack offers to people, as MCP's prompts: a pure function of the manifest, answered by the node itself. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** What has to be asked of the client first, as for operations; null when nothing is missing. */
  askFirst?(given: PromptArguments, round: AskRound): InputRequests | null;
  /** `answers` are MCP's results of what `askFirst` asked, by key. */
  messages(given: PromptArguments, answers: AskRound["answers"]): readonly PromptMessage[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  /** Without it the prompt is refused. */
  readonly required: boolean;
  /** Values that begin as the caller has begun, best first. */
  complete?: Complete;
}

/** What was given, by the names of the arguments; those that are not required may be missing. */
export type PromptArguments = Readonly<Record<string, string>>;

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

/** `others` holds what has been chosen already for the other arguments. */
export type Complete = (begun: string, others: Readonly<Record<string, string>>) => readonly string[];

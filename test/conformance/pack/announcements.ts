import { defineForegroundTool, toolResult, type ForegroundTool, type ListName } from "@holdfast/core";
import { z } from "zod";

/** Tools that pretend that a list has changed, for clients that listen for it. */
export const announcements: readonly ForegroundTool[] = [
  announcement("test_trigger_tool_change", "tools"),
  announcement("test_trigger_prompt_change", "prompts"),
];

function announcement(name: string, list: ListName): ForegroundTool {
  return defineForegroundTool({
    name,
    title: `Announce new ${list}`,
    description: `Tells everybody who listens that the list of ${list} has changed.`,
    input: z.object({}),
    run: (_input, { announce }) => {
      announce(list);
      return toolResult({ text: "announced" });
    },
  });
}

import { z } from "zod";

export const workspaceId = z.string().default("current").describe("The workspace to work in.");

/** The input of tools that need none. */
export const nothing = z.object({ workspaceId });

/** What all operations of the pack have in common. */
export const common = { version: 1, effect: "read" as const };

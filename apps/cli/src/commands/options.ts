import { ACTIONS, parseWorkspaceId } from "@holdfast/core";
import { z } from "zod";
import { callerPath, type CliConfig } from "../config.ts";
import { dataFolderAt, type DataFolder } from "../service/data-folder.ts";

/** The option of every command that reads or writes the data folder. */
export const dataOption = {
  type: "string",
  value: "DIR",
  help: "the data folder (default .holdfast in the project, or HOLDFAST_DATA)",
} as const;

export function chosenDataFolder(config: CliConfig, given: string | undefined): DataFolder {
  return dataFolderAt(given === undefined ? config.dataFolder : callerPath(config, given));
}

/** A port of this machine. */
export const portNumber = z
  .string()
  .regex(/^\d{1,5}$/u, "expected a port number from 1 to 65535")
  .transform(Number)
  .pipe(z.number().min(1, "expected a port number from 1 to 65535").max(65_535, "expected a port number from 1 to 65535"));

const seconds = { s: 1, m: 60, h: 3600 } as const;

/** `90s`, `15m`, `8h`, in seconds. */
export const durationSeconds = z.string().transform((text, context) => {
  const match = /^(\d{1,6})([smh])$/u.exec(text);
  const unit = match?.[2];
  if (unit === "s" || unit === "m" || unit === "h") return Number(match?.[1]) * seconds[unit];
  context.addIssue({ code: "custom", message: "expected a time such as 90s, 15m or 8h" });
  return z.NEVER;
});

/** `read,run,write`, or some of them. */
export const actionList = z
  .string()
  .transform((text) => text.split(",").map((action) => action.trim()))
  .pipe(z.array(z.enum(ACTIONS, `expected some of ${ACTIONS.join(",")}`)).min(1));

/** The name of a workspace, which is its id. */
export const workspaceName = z.string("a name is missing").transform((text, context) => {
  const id = parseWorkspaceId(text);
  if (id !== null) return id;
  context.addIssue({ code: "custom", message: "expected a lower-case letter followed by up to 63 of a-z, 0-9, _ and -" });
  return z.NEVER;
});

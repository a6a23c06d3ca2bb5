import { access, constants, realpath, stat } from "node:fs/promises";
import { CommandError } from "../command.ts";
import { refuseComma } from "../service/process-environment.ts";

/** The real path of a folder that a worker of this account can serve, or one sentence on why it cannot. */
export async function usableFolder(given: string): Promise<string> {
  try {
    const target = await realpath(given);
    if (!(await stat(target)).isDirectory()) throw new CommandError(`${given} is a file, and a folder is needed`);
    await access(target, constants.R_OK | constants.X_OK);
    refuseComma(target);
    return target;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const isMissing = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    throw new CommandError(isMissing ? `there is no folder ${given}` : `the folder ${given} cannot be read by this account`, {
      cause: error,
    });
  }
}

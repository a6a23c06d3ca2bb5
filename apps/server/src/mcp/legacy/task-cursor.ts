import { taskIdSchema, type Principal, type Seals, type TaskId } from "@holdfast/core";
import { invalidArguments } from "../parse-arguments.ts";

/** Where a page of a principal's tasks ended, as clients hold it: good for that principal alone. */
export interface TaskCursors {
  close(principal: Principal, last: TaskId): string;
  /** Throws `AppError` "invalid_arguments" for everything that `close` did not make for this principal. */
  open(principal: Principal, cursor: string): TaskId;
}

const PURPOSE = "task list";

export function createTaskCursors(seals: Seals): TaskCursors {
  return {
    close: (principal, last) => Buffer.from(`${last}.${seals.seal(PURPOSE, sealed(principal, last))}`).toString("base64url"),
    open: (principal, cursor) => {
      const text = Buffer.from(cursor, "base64url").toString();
      const last = taskIdSchema.safeParse(text.slice(0, ID_LENGTH));
      if (!last.success || !seals.isGenuine(PURPOSE, sealed(principal, last.data), text.slice(ID_LENGTH + 1)))
        throw invalidArguments([{ path: "cursor", message: "not a cursor of this list" }]);
      return last.data;
    },
  };
}

const ID_LENGTH = 36;

function sealed({ issuer, subject }: Principal, last: TaskId): readonly string[] {
  return [issuer, subject, last];
}

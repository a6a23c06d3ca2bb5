import { AppError, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { ListenFilter, ListenRequest } from "./listen-request.ts";
import type { HonouredFilter } from "./messages.ts";
import type { NamedTasks } from "./open-feed.ts";

/** Ids that one stream may name. More than that is a mistake, and an acknowledgement that silently left some out would hide it. */
export const MAX_TASK_IDS = 256;

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
const declarationSchema = z.object({ extensions: z.object({ [TASKS_EXTENSION]: z.looseObject({}) }) });

/** Characters of a request id: every message of the stream has it again, and the stream keeps it. */
const MAX_ID_LENGTH = 1024;

/** What is asked for, if it may be asked. Throws `AppError` "invalid_request", "invalid_arguments" or "capability_required". */
export function acceptedFilter({ id, filter, capabilities }: ListenRequest): ListenFilter {
  if (typeof id === "string" && id.length > MAX_ID_LENGTH) throw new AppError("invalid_request", "the id of a listener is too long");
  if (filter === null) throw refused("notifications", "expected a filter of notifications");
  // The extension's word: whoever wants to hear of tasks must have declared that it knows them.
  if (filter.taskIds !== undefined && !declarationSchema.safeParse(capabilities).success)
    throw new AppError("capability_required", "a listener names tasks and did not declare the extension", {
      data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    });
  if ((filter.taskIds?.length ?? 0) > MAX_TASK_IDS) throw refused("notifications.taskIds", `expected at most ${MAX_TASK_IDS} ids`);
  return filter;
}

function refused(path: string, message: string): AppError {
  return new AppError("invalid_arguments", `a listener's ${path}: ${message}`, { data: { issues: [{ path, message }] } });
}

/** What there is to listen for. */
export interface ListenOffer {
  readonly named: NamedTasks;
  readonly feed: { visible(): Promise<readonly TaskId[]> };
  /** Without any, the node does not declare them, and their list cannot change. */
  readonly hasPrompts: boolean;
}

/**
 * Exactly what the stream will carry (contract 10.3): the lists, and those ids that the caller may watch, spelled as they came. Of the
 * others nothing is said, whatever the reason. Resources never change, so that subscribing to one is never honoured.
 */
export async function honouredSubset(
  { toolsListChanged, promptsListChanged, resourcesListChanged, taskIds = [] }: ListenFilter,
  { named, feed, hasPrompts }: ListenOffer,
): Promise<HonouredFilter> {
  const visible = new Set((await feed.visible()).flatMap((taskId) => named.get(taskId)?.spellings ?? []));
  const honouredIds = [...new Set(taskIds)].filter((handle) => visible.has(handle));
  return {
    ...(toolsListChanged === true ? { toolsListChanged } : {}),
    ...(promptsListChanged === true && hasPrompts ? { promptsListChanged } : {}),
    ...(resourcesListChanged === true ? { resourcesListChanged } : {}),
    ...(honouredIds.length > 0 ? { taskIds: honouredIds } : {}),
  };
}

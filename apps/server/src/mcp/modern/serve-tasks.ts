import type { Result } from "@modelcontextprotocol/server";
import { AppError } from "@holdfast/core";
import { z } from "zod";
import { requireCapabilities } from "../ask-rounds.ts";
import { missingCapabilities } from "../client-capabilities.ts";
import type { TaskAddress, TaskHandles } from "../handles.ts";
import { invalidArguments } from "../parse-arguments.ts";
import type { ToolService } from "../tool-service.ts";
import type { Serve } from "../serve.ts";
import { TASKS_EXTENSION, type ModernRequest } from "./serving.ts";
import { detailedTaskJson } from "./task-json.ts";

export interface ServeTasksOptions {
  readonly service: ToolService;
  readonly handles: TaskHandles;
}

/** What a client must have declared with a request to be given a task, or to ask for one. */
export const TASKS_CAPABILITY = { extensions: { [TASKS_EXTENSION]: {} } };

/** The methods of the Tasks extension (SEP-2663); they belong to requests that declared it. */
export function serveTasks(serve: Serve<ModernRequest>, { service, handles }: ServeTasksOptions): void {
  const serveTask = (
    method: string,
    answer: (task: { readonly handle: string; readonly address: TaskAddress }, request: ModernRequest) => Promise<Result>,
  ): void => {
    serve(method, taskParamsSchema, async ({ taskId: handle }, request) => {
      const { declaresTasks, principal } = request.caller;
      if (!declaresTasks) requireCapabilities(TASKS_CAPABILITY);
      // Before the handle is looked at, so that a malformed update says nothing of its task.
      if (method === UPDATE) answersOf(request);
      const address = handles.open({ generation: "m", principal }, handle);
      if (address === null) throw new AppError("task_not_found", "not a handle of this principal");
      return await answer({ handle, address }, request);
    });
  };

  serveTask("tasks/get", async ({ handle, address }, { caller }) => {
    const task = await service.findTask(caller, address);
    const json = detailedTaskJson(handle, task);
    // No part of it is shown to a client that cannot be asked all that is open (contract 9.3).
    requireCapabilities(missingCapabilities(task.inputRequests, caller.capabilities));
    return json;
  });
  serveTask("tasks/cancel", async ({ address }, { caller }) => {
    await service.cancelTask(caller, address);
    return {};
  });
  serveTask(UPDATE, async ({ address }, request) => {
    await service.updateTask(request.caller, address, answersOf(request));
    return {};
  });
}

const UPDATE = "tasks/update";

function answersOf({ responses }: ModernRequest): NonNullable<ModernRequest["responses"]> {
  if (responses !== null) return responses;
  throw invalidArguments([{ path: "inputResponses", message: "expected answers by the keys of their questions" }]);
}

const taskParamsSchema = z.object({ taskId: z.string() });

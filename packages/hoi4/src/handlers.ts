import type { HandledOperation } from "@holdfast/core";
import { eventInspectHandler } from "./operations/event-inspect/handler.ts";
import { focusRewriteHandler } from "./operations/focus-rewrite/handler.ts";

/** The working half of the pack, loaded only where operations run. */
export const handlers: HandledOperation[] = [eventInspectHandler, focusRewriteHandler];

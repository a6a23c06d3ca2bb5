import { definePack } from "@holdfast/core";
import { eventInspect } from "./operations/event-inspect/manifest.ts";
import { focusRewrite } from "./operations/focus-rewrite/manifest.ts";

/** The HOI4 modding tools. Loaded by servers, so nothing here reaches a parser or a handler. */
export const pack = definePack({ name: "hoi4", operations: [eventInspect, focusRewrite] });

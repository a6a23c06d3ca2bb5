import { z } from "zod";

/** No list is longer than one page, so no cursor was ever given out. */
export const listParamsSchema = z.object({ cursor: z.never({ error: "unknown cursor" }).optional() });

import { customType, pgSchema, timestamp } from "drizzle-orm/pg-core";

/** Where all tables of Holdfast live. Their SQL is in `migrations`; these definitions type the cold paths and are compared with it. */
export const holdfast = pgSchema("holdfast");

export const bytea = customType<{ data: Uint8Array; driverData: Buffer }>({ dataType: () => "bytea" });

export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: "date" });

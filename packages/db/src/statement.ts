import { AppError } from "@holdfast/core";
import type { Pool } from "pg";
import { z } from "zod";
import { storageError } from "./storage-error.ts";

/** One whole SQL statement and the shape of its rows. With a name it is prepared once per connection. */
export interface Statement<Row> {
  /** What is done, as an error says it: "create tasks". */
  readonly purpose: string;
  readonly text: string;
  readonly row: z.ZodType<Row>;
  /** False for a text that varies: preparing each of them would fill the server's memory. */
  readonly prepared: boolean;
}

/** Statements that may wait for a connection before more are refused: their callers would have given up. */
const MAX_WAITING = 1_000;

/**
 * Runs it as a transaction of its own and parses the rows. Rejects with an AppError; the connection of a statement that failed
 * is given up, so a server that became read-only or is shutting down is left behind.
 */
export async function runStatement<Row>(pool: Pool, statement: Statement<Row>, values: readonly unknown[]): Promise<readonly Row[]> {
  if (pool.waitingCount >= MAX_WAITING)
    throw new AppError("overloaded", `${statement.purpose}: ${pool.waitingCount} statements wait for a connection`);
  const { purpose, text, row } = statement;
  try {
    const { rows } = await pool.query<Record<string, unknown>>({
      ...(statement.prepared ? { name: purpose } : {}),
      text,
      values: [...values],
    });
    return rows.map((columns) => row.parse(columns));
  } catch (error) {
    throw storageError(error, `could not ${purpose}`);
  }
}

/** A string kept as JSON text, so that NULs and lone surrogates survive. */
export function quoteText(value: string | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The way back from `quoteText` and from every `json` column that is read as text. */
export const jsonTextSchema = z.string().transform((text): unknown => JSON.parse(text));
export const quotedTextSchema = jsonTextSchema.pipe(z.string());

/** A bigint or numeric column that is known to be small. */
export const countSchema = z.coerce.number().int();

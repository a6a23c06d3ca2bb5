/** Why the embedded server cannot run, in one line for the person at the terminal. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}

/** What the middlewares of a request hand to each other. */
export interface HttpEnv {
  /** What the HTTP server adds to a request; nothing where there is none, as in tests. */
  Bindings: { outgoing?: { destroy(): void } };
  Variables: {
    requestId: string;
    /** What went wrong on our side, for the log; null when nothing did. */
    fault: unknown;
  };
}

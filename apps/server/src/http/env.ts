/** What the middlewares of a request hand to each other. */
export interface HttpEnv {
  Variables: {
    requestId: string;
    /** What went wrong on our side, for the log; null when nothing did. */
    fault: unknown;
  };
}

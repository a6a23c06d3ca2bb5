import type { ServerResponse } from "node:http";

/** What the middlewares of a request hand to each other. */
export interface HttpEnv {
  /** What the HTTP server adds to a request; nothing where there is none, as in tests. */
  Bindings: { outgoing?: ServerResponse };
  Variables: {
    requestId: string;
    /** To be told how long the body was, in bytes, once it has been read. */
    bodyRead?: (length: number) => void;
    /** True when the answer, though it may be a stream that goes on, no longer needs what was sent. */
    isBodyDone?: boolean;
    /** What went wrong on our side, for the log; null when nothing did. */
    fault: unknown;
  };
}

import type { Exchange } from "../exchange.ts";
import { openEventStream, type EventStream, type EventStreamOptions } from "../listen/event-stream.ts";

/**
 * What comes back for one body: JSON if nothing has to be said before the answers, else a stream of events. A client that goes away ends
 * the reply and nothing else.
 */
export interface Reply {
  /** Resolves when it is decided which of the two it is. */
  readonly response: Promise<Response>;
  /** Aborted when nobody reads any more. */
  readonly left: AbortSignal;
  /** Whether it is a stream by now. */
  readonly isOpen: boolean;
  /** Whether its reader has left as much unread as may be. */
  readonly isFull: boolean;
  /** From where a client can go on if the stream ends early; before it is opened. */
  resumeFrom(id: string): void;
  /** Makes a stream of it. */
  open(): void;
  /** Sends a message that is no answer. */
  send(message: object, id?: string): void;
  /** The last expected answer ends the reply. */
  answer(message: object, id?: string): void;
  /** Ends it without the answers that are missing. */
  finish(): void;
}

export interface ReplyOptions {
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  readonly exchange: Pick<Exchange, "hangUp">;
  readonly timing: Pick<EventStreamOptions, "keepAliveMs" | "stallMs">;
  /** How many requests the body held. */
  readonly expected: number;
  readonly isBatch: boolean;
}

export function createReply({ signal, exchange, timing, expected, isBatch }: ReplyOptions): Reply {
  const response = Promise.withResolvers<Response>();
  const left = new AbortController();
  const answers: object[] = [];
  let missing = expected;
  let stream: EventStream | null = null;
  let resumption: string | null = null;
  let isFinished = false;

  const leave = (): void => {
    if (isFinished) return;
    isFinished = true;
    left.abort();
    // Nobody gets it, but whoever waits for a response must not wait for ever.
    response.resolve(new Response(null, { status: 204 }));
  };
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });

  const open = (): EventStream | null => {
    if (isFinished) return null;
    if (stream !== null) return stream;
    stream = openEventStream({ signal, hangUp: exchange.hangUp, ...timing });
    stream.over.addEventListener("abort", leave, { once: true });
    if (resumption !== null) stream.prime(resumption);
    for (const message of answers.splice(0)) stream.send(message);
    response.resolve(stream.response);
    return stream;
  };

  return {
    response: response.promise,
    left: left.signal,
    get isOpen() {
      return stream !== null;
    },
    get isFull() {
      return stream?.isFull ?? false;
    },
    resumeFrom: (id) => {
      resumption = id;
    },
    open: () => void open(),
    send: (message, id) => open()?.send(message, id),
    answer: (message, id) => {
      if (isFinished) return;
      missing -= 1;
      isFinished = missing === 0;
      if (stream !== null) {
        if (isFinished) stream.end(message, id);
        else stream.send(message, id);
        return;
      }
      answers.push(message);
      if (isFinished) response.resolve(Response.json(isBatch ? answers : answers[0]));
    },
    finish: () => {
      const last = open();
      isFinished = true;
      last?.finish();
    },
  };
}

import type { AnswerFrame, ChildFrame } from "../sandbox/frames.ts";
import type { Channel } from "./channel.ts";

/** What a run asks of its parent, one matter after the other: the channel carries one at a time. */
export interface Exchange {
  /** Waits for its turn, and then has the channel for itself until it is done. Rejects when the operation has answered already. */
  turn<Value>(work: (line: Line) => Promise<Value>): Promise<Value>;
  /** The parent's word on the matter under way. */
  take(answer: AnswerFrame): void;
  /** Waits for what is under way and refuses anything new. */
  close(): Promise<void>;
}

/** The channel, for the length of one matter. */
export interface Line {
  /** Sends the frame and waits for the parent's answer to it. */
  ask(frame: ChildFrame): Promise<AnswerFrame>;
  /** Sends the pieces and waits for the parent's answer to the last one, also when there is none. */
  askWithBytes(pieces: Iterable<Uint8Array>): Promise<AnswerFrame>;
}

export function createExchange(channel: Channel): Exchange {
  let queue: Promise<unknown> = Promise.resolve();
  let closed = false;
  // Two answers may arrive together, the second one before anybody has come to wait for it.
  const answers: AnswerFrame[] = [];
  let waiting: ((answer: AnswerFrame) => void) | null = null;

  function nextAnswer(): Promise<AnswerFrame> {
    const answer = answers.shift();
    return answer === undefined ? new Promise((resolve) => (waiting = resolve)) : Promise.resolve(answer);
  }

  const line: Line = {
    async ask(frame) {
      await channel.send(frame);
      return await nextAnswer();
    },
    async askWithBytes(pieces) {
      for (const piece of pieces) await channel.sendBytes(piece);
      return await nextAnswer();
    },
  };

  return {
    turn(work) {
      if (closed) return Promise.reject(new Error("the operation has answered already, nothing can follow"));
      const done = queue.then(() => work(line));
      queue = done.catch(() => undefined);
      return done;
    },
    take(answer) {
      const resolve = waiting;
      waiting = null;
      if (resolve === null) answers.push(answer);
      else resolve(answer);
    },
    async close() {
      closed = true;
      await queue;
    },
  };
}

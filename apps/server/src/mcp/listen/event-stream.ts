/** The response of one listener: JSON-RPC messages as server-sent events, with no more in memory than its reader may leave unread. */
export interface EventStream {
  readonly response: Response;
  /** Aborted when nothing more is sent: ended by us, left by its reader, or cut. */
  readonly over: AbortSignal;
  /** Whether its reader has left as much unread as may be. */
  readonly isFull: boolean;
  /** Queues one message, under an id by which its reader can say what it had last; does nothing once the stream is over. */
  send(message: object, id?: string): void;
  /** Queues an id without a message: from there its reader can go on even if nothing else arrives. */
  prime(id: string): void;
  /** Resolves when the reader has taken enough for another message, and when the stream is over. */
  room(): Promise<void>;
  /** Queues a last message and closes behind it. */
  end(message: object, id?: string): void;
  /** Closes behind what is queued. */
  finish(): void;
  /** Closes at once and without a word. */
  close(): void;
}

export interface EventStreamOptions {
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Destroys the connection. Closing the stream alone does not: a writer that waits for a full socket to drain would not notice. */
  readonly hangUp: () => void;
  /** Comments are sent this often, in milliseconds, so that whatever lies between lets the connection live. */
  readonly keepAliveMs: number;
  /** A reader that takes nothing for so long, although there is something, is cut off. */
  readonly stallMs: number;
}

/** Beyond this the stream has no room; one message may exceed it. */
const BUFFER_BYTES = 64 * 1024;
/** Small enough that a slow reader is seen to move. */
const PIECE_BYTES = 16 * 1024;
const KEEP_ALIVE = new TextEncoder().encode(": keep-alive\n\n");

export function openEventStream({ signal, hangUp, keepAliveMs, stallMs }: EventStreamOptions): EventStream {
  const over = new AbortController();
  const queue: Uint8Array[] = [];
  let queuedBytes = 0;
  let isWanted = false;
  let isClosed = false;
  const wake = new Set<() => void>();
  let stallTimer: NodeJS.Timeout | null = null;
  let output: ReadableStreamDefaultController<Uint8Array> | null = null;

  const isFull = (): boolean => queuedBytes >= BUFFER_BYTES;
  const wakeAll = (): void => {
    for (const resolve of wake) resolve();
    wake.clear();
  };

  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(keepAliveTimer);
    if (stallTimer !== null) clearTimeout(stallTimer);
    signal.removeEventListener("abort", close);
    queue.length = 0;
    over.abort();
    wakeAll();
    try {
      output?.close();
    } catch {
      // Its reader has cancelled it.
    }
  };

  const cut = (): void => {
    close();
    hangUp();
  };

  const watchReader = (): void => {
    if (stallTimer !== null) clearTimeout(stallTimer);
    stallTimer = queue.length === 0 || isClosed ? null : setTimeout(cut, stallMs);
  };

  /** Hands out one piece if somebody waits for it. */
  const move = (): void => {
    const piece = isWanted ? queue.shift() : undefined;
    if (piece === undefined) return;
    isWanted = false;
    queuedBytes -= piece.byteLength;
    output?.enqueue(piece);
    watchReader();
    if (!isFull()) wakeAll();
    if (queue.length === 0 && over.signal.aborted) close();
  };

  const push = (bytes: Uint8Array): void => {
    const wasIdle = queue.length === 0;
    for (let offset = 0; offset < bytes.byteLength; offset += PIECE_BYTES) queue.push(bytes.subarray(offset, offset + PIECE_BYTES));
    queuedBytes += bytes.byteLength;
    if (wasIdle) watchReader();
    move();
  };

  const keepAliveTimer = setInterval(() => {
    if (queue.length === 0 && !over.signal.aborted) push(KEEP_ALIVE);
  }, keepAliveMs);

  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        output = controller;
      },
      pull: () => {
        isWanted = true;
        move();
      },
      cancel: close,
    },
    // Nothing is taken from our queue before somebody reads.
    { highWaterMark: 0 },
  );
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });

  const send = (message: object, id?: string): void => {
    if (over.signal.aborted) return;
    const name = id === undefined ? "" : `id: ${id}\n`;
    push(new TextEncoder().encode(`event: message\n${name}data: ${JSON.stringify(message)}\n\n`));
  };
  const finish = (): void => {
    clearInterval(keepAliveTimer);
    over.abort();
    wakeAll();
    if (queue.length === 0) close();
  };
  return {
    response: new Response(body, { status: 200, headers: HEADERS }),
    over: over.signal,
    get isFull() {
      return isFull();
    },
    send,
    prime: (id) => {
      if (!over.signal.aborted) push(new TextEncoder().encode(`id: ${id}\ndata: \n\n`));
    },
    room: async () => {
      if (over.signal.aborted || !isFull()) return;
      await new Promise<void>((resolve) => wake.add(resolve));
    },
    end: (message, id) => {
      send(message, id);
      finish();
    },
    finish,
    close,
  };
}

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  // Proxies that buffer would hold events back.
  "X-Accel-Buffering": "no",
};

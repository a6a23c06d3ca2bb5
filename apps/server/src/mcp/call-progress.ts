import type { TaskProgress } from "@holdfast/core";

/** Names the request whose progress it is; echoed with its JSON type. `0` and `""` are tokens. */
export type ProgressToken = string | number;

/** The parameters of `notifications/progress`. */
export interface ProgressReport {
  readonly progressToken: ProgressToken;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface CallProgressOptions {
  readonly token: ProgressToken;
  /** Sends it on the response of the request. May reject when its client has gone. */
  readonly notify: (report: ProgressReport) => Promise<void>;
  /** In milliseconds. */
  readonly timing?: Partial<ProgressTiming>;
}

export interface ProgressTiming {
  /** A call that has said nothing for so long says that it is alive. */
  readonly heartbeatMs: number;
  /** How often a report may follow another, once `BURST` have been sent at will. */
  readonly everyMs: number;
}

/** The reports of one call, from its start to its answer. */
export interface CallProgress {
  /** What is not greater than the last is no news and is left out; what comes too soon is merged with what follows. */
  report(progress: TaskProgress): void;
  /** Nothing is sent afterwards. Resolves when the last report is on its way, so that the answer comes behind it. */
  stop(): Promise<void>;
}

const TIMING: ProgressTiming = { heartbeatMs: 15_000, everyMs: 100 };
/** Short operations report a few values in quick succession; each of them is wanted. */
const BURST = 10;
/** How much a heartbeat adds, as a share of the value, or of one. */
const HEARTBEAT_STEP = 1e-6;

/**
 * MCP lets a progress value only grow, and clients that wait with a time limit start it anew with each report. A comment on the stream
 * would not do that, and a value cannot be said twice; so a heartbeat is the last value and a millionth more, far below the next real
 * one. The first one makes an event stream of the response, which load balancers then see alive by its comments too.
 */
export function startCallProgress({ token, notify, timing: given }: CallProgressOptions): CallProgress {
  const { heartbeatMs, everyMs } = { ...TIMING, ...given };
  let last: TaskProgress | null = null;
  let pending: TaskProgress | null = null;
  let credit = BURST;
  let creditAt = performance.now();
  let releaseTimer: NodeJS.Timeout | null = null;
  let isStopped = false;
  let sending: Promise<void> = Promise.resolve();

  const send = (progress: TaskProgress): void => {
    last = progress;
    heartbeat.refresh();
    const { value, total, message } = progress;
    const report = {
      progressToken: token,
      progress: value,
      ...(total === null ? {} : { total }),
      ...(message === null ? {} : { message }),
    };
    // A client that has gone misses nothing, and its call ends by its signal.
    sending = sending.then(() => notify(report)).catch(() => undefined);
  };

  const takeCredit = (): boolean => {
    const now = performance.now();
    credit = Math.min(BURST, credit + (now - creditAt) / everyMs);
    creditAt = now;
    if (credit < 1) return false;
    credit -= 1;
    return true;
  };

  const release = (): void => {
    releaseTimer = null;
    if (pending === null) return;
    if (!takeCredit()) {
      releaseTimer = setTimeout(release, everyMs);
      return;
    }
    const progress = pending;
    pending = null;
    if (isNews(progress)) send(progress);
  };

  const isNews = ({ value }: TaskProgress): boolean => last === null || value > last.value;

  const heartbeat = setInterval(() => send(oneStepOn(last)), heartbeatMs);

  return {
    report: (progress) => {
      if (isStopped || !isNews(progress)) return;
      pending = progress;
      if (releaseTimer === null) release();
    },
    stop: async () => {
      isStopped = true;
      clearInterval(heartbeat);
      if (releaseTimer !== null) clearTimeout(releaseTimer);
      await sending;
    },
  };
}

function oneStepOn(last: TaskProgress | null): TaskProgress {
  const { value, total, message } = last ?? { value: 0, total: null, message: null };
  const next = value + Math.max(1, Math.abs(value)) * HEARTBEAT_STEP;
  // Beyond its total a value would look like a mistake.
  return { value: next, total: total !== null && next > total ? null : total, message };
}

/** What a load balancer needs to know of a node. `degraded` still serves: hints come late, and polling carries on. */
export interface Readiness {
  readonly status: "ready" | "degraded" | "unready";
  readonly database: "usable" | "unusable";
  readonly listener: "up" | "isolated" | "stopped";
  readonly draining: boolean;
}

export interface Health {
  /** The process runs and its event loop turns; whatever else is wrong, restarting it would not help. */
  live(): { readonly status: "live" };
  /** `cause` says why the database is unusable, for the log. */
  ready(): Promise<{ readonly readiness: Readiness; readonly cause: unknown }>;
}

export interface HealthOptions {
  /** Rejects unless the database can be reached and written and has the schema of this release. */
  readonly checkDatabase: () => Promise<void>;
  readonly listenerState: () => Readiness["listener"];
  readonly isDraining: () => boolean;
  readonly now?: () => number;
}

/** Milliseconds. Probes of several load balancers share one look at the database, and a probe never waits for longer than one. */
const VERDICT_AGE_MS = 1000;
const CHECK_TIMEOUT_MS = 2000;

type Verdict = { readonly usable: true } | { readonly usable: false; readonly cause: unknown };

export function createHealth(options: HealthOptions): Health {
  const { checkDatabase, listenerState, isDraining, now = performance.now.bind(performance) } = options;
  let known: { readonly verdict: Promise<Verdict>; readonly at: number } | null = null;

  function databaseVerdict(): Promise<Verdict> {
    if (known === null || now() - known.at > VERDICT_AGE_MS) known = { verdict: judge(checkDatabase), at: now() };
    return known.verdict;
  }

  return {
    live: () => ({ status: "live" }),
    ready: async () => {
      const verdict = await databaseVerdict();
      const listener = listenerState();
      const draining = isDraining();
      return {
        readiness: {
          status: draining || !verdict.usable ? "unready" : listener === "up" ? "ready" : "degraded",
          database: verdict.usable ? "usable" : "unusable",
          listener,
          draining,
        },
        cause: verdict.usable ? null : verdict.cause,
      };
    },
  };
}

async function judge(checkDatabase: () => Promise<void>): Promise<Verdict> {
  const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener("abort", () => reject(new Error(`the database did not answer within ${CHECK_TIMEOUT_MS} ms`)));
  });
  try {
    await Promise.race([checkDatabase(), late]);
    return { usable: true };
  } catch (cause) {
    return { usable: false, cause };
  }
}

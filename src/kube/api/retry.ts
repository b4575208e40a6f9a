import { ApiError, isTransient } from "./api-error.ts";

/** How a request is sent. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** The limit of each attempt, in milliseconds; undefined: 15 s (client.ts). */
  readonly timeoutMs?: number | undefined;
  /** How often to try again after failures that may pass; undefined: RETRIES. */
  readonly retries?: number | undefined;
}

/** How often a request is tried again if its caller says nothing. */
export const RETRIES = 4;

/**
 * Calls `attempt` until it resolves, and up to `retries` more times if it fails in a way that may pass (isTransient).
 * The pauses grow, and last at least as long as Retry-After says, of which at most 30 s count. Rejects with the last
 * error, or with the signal's reason.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries = RETRIES, signal }: RequestOptions,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (retries === 0 || !isTransient(error)) throw error;
    await pauseAfter(error, signal);
  }
  const { default: pRetry } = await import("p-retry");
  return await pRetry(attempt, {
    retries: retries - 1,
    minTimeout: 200,
    maxTimeout: 5000,
    factor: 2,
    randomize: true,
    ...(signal && { signal }),
    shouldRetry: ({ error }) => isTransient(error),
    onFailedAttempt: ({ error, retriesLeft }) => (retriesLeft > 0 ? pauseAfter(error, signal) : undefined),
  });
}

/** The shortest pause before another attempt; by chance it is up to twice as long. */
export const SHORTEST_PAUSE_MS = 100;

/** The longest pause that a Retry-After can ask for. */
export const LONGEST_PAUSE_MS = 30_000;

/**
 * Waits after a failed attempt: as long as its Retry-After says, between SHORTEST_PAUSE_MS (100 ms) and
 * LONGEST_PAUSE_MS (30 s), with jitter at the lower end. Rejects with the signal's reason when the signal is aborted.
 */
export async function pauseAfter(error: unknown, signal: AbortSignal | undefined): Promise<void> {
  const wantedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const ms = Math.min(Math.max(wantedMs, SHORTEST_PAUSE_MS * (1 + Math.random())), LONGEST_PAUSE_MS);
  const { setTimeout: sleep } = await import("node:timers/promises");
  await sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted());
}

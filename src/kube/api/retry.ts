import { ApiError, isTransient } from "./api-error.ts";

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of each attempt. */
  readonly timeoutMs?: number | undefined;
  /** After a failure that may pass. */
  readonly retries?: number | undefined;
}

export const RETRIES = 4;

/**
 * Calls `attempt` until it resolves, at most `retries` times again, after failures that may pass. Rests longer each time, and at
 * least as long as Retry-After says.
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

export const SHORTEST_PAUSE_MS = 100;

export const LONGEST_PAUSE_MS = 30_000;

/** Waits before the next try: as long as Retry-After says, within bounds, with jitter. Rejects when `signal` is aborted. */
export async function pauseAfter(error: unknown, signal: AbortSignal | undefined): Promise<void> {
  const wantedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const ms = Math.min(Math.max(wantedMs, SHORTEST_PAUSE_MS * (1 + Math.random())), LONGEST_PAUSE_MS);
  const { setTimeout: sleep } = await import("node:timers/promises");
  await sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted());
}

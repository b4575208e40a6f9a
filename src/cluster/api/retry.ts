import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { ApiError, isTransient } from "./api-error.ts";

/** How a request is sent. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** The limit of each attempt, in milliseconds; undefined: 15 s (client.ts). */
  readonly timeoutMs?: number | undefined;
  /** How often to try again after failures that may pass; undefined: RETRIES. */
  readonly retries?: number | undefined;
}

const RETRIES = 4;
/** The longest Retry-After that counts. */
const LONGEST_RETRY_AFTER_MS = 30_000;

/**
 * Calls `attempt` until it resolves, and up to `retries` more times if it fails in a way that may pass (isTransient).
 * The pauses grow from 0.1 s, each after the Retry-After, of which at most 30 s count. Rejects with the last error, or
 * with the signal's reason.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries = RETRIES, signal }: RequestOptions,
): Promise<T> {
  return await pRetry(attempt, {
    retries,
    minTimeout: 100,
    randomize: true,
    ...(signal && { signal }),
    async shouldRetry({ error }) {
      if (!(error instanceof ApiError && isTransient(error))) return false;
      const ms = Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
      await sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined); // p-retry rejects if it is aborted
      return true;
    },
  });
}

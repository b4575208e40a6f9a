import { backoffMs } from "../../core/cluster/backoff.ts";
import type { MessageAt } from "../../core/messages/log-types.ts";
import { ApiError, isApiFailure } from "../api/api-error.ts";
import type { Context } from "../api/context.ts";
import { pause } from "./pause.ts";

const backoff = { firstMs: 1000, longestMs: 30_000 };
/** Between one end without a failure and the next try. */
const BETWEEN_MS = 500;

export interface Trying extends Context {
  /** What cannot be done, for the log. */
  readonly message: Extract<MessageAt<"warn">, `cannot watch ${string}: retrying`>;
  readonly failed?: (error: Error) => void;
}

/**
 * Calls `once`, such as a watch, again and again until the signal is aborted. A failure is logged once while it stays the same;
 * the rests grow, and respect Retry-After, until `isFine` is called.
 */
export async function keepTrying(
  once: (isFine: () => void) => Promise<void>,
  { message, failed, log, signal }: Trying,
): Promise<void> {
  let failures = 0;
  let complaint: string | undefined;
  const isFine = (): void => {
    failures = 0;
    complaint = undefined;
  };
  while (!signal.aborted) {
    try {
      await once(isFine);
      await pause(BETWEEN_MS * Math.random(), signal); // not in a hot loop where something cuts each watch off
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiFailure(error)) throw error;
      failed?.(error);
      if (error.message !== complaint) log.warn({ reason: error.message }, message);
      complaint = error.message;
      const wantedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      await pause(Math.max(wantedMs, backoffMs(failures, backoff, Math.random())), signal);
      failures += 1;
    }
  }
}

import { backoffMs } from "../../core/cluster/backoff.ts";
import type { MessageAt } from "../../core/messages/log-types.ts";
import { ApiError, isApiFailure } from "../api/api-error.ts";
import type { Context } from "../api/context.ts";
import { pause } from "./pause.ts";

const backoff = { firstMs: 1000, longestMs: 30_000 };
/** The longest pause after an end without a failure. */
const BETWEEN_MS = 500;

/** How to try again. */
export interface Trying extends Context {
  /** The log message for a failure. */
  readonly message: Extract<MessageAt<"warn">, `cannot watch ${string}: retrying` | "cannot update the certificates">;
  /** Called at each failure, logged or not. */
  readonly failed?: (error: Error) => void;
}

/**
 * Calls `once`, such as a watch, again and again until the signal is aborted. Logs a failure as a warning, once while
 * its message stays the same. The pauses after failures grow from 0.5 s to 30 s, or last as long as Retry-After says;
 * `isFine`, which `once` calls, resets both. Rejects with an error that is not of the API (isApiFailure).
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
      await pause(BETWEEN_MS * Math.random(), signal); // lest this is a hot loop if something cuts each watch off
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

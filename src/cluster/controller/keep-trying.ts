import type { Warning } from "../../shared/core/log-messages.ts";
import { ApiError, isApiFailure, isResourceExpired } from "../api/api-error.ts";
import type { Context } from "../api/context.ts";
import { backoffMs } from "../core/backoff.ts";
import { pause } from "./pause.ts";

const backoff = { firstMs: 1000, longestMs: 30_000 };
/** How long nothing fails until the pauses are short again, as in client-go (tools/cache/reflector.go). */
const RESET_MS = 120_000;
/** The longest pause after an end without a failure. */
const BETWEEN_MS = 500;
/** How long the same failure is not logged again. */
const QUIET_MS = 60_000;

/** How to try again. */
export interface Trying extends Context {
  /** The log message for a failure. */
  readonly message: Warning;
  /** Called at each failure, logged or not. */
  readonly failed?: (error: Error) => void;
  /** Waits before the next try, by default the whole time. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Calls `once`, such as a watch, again and again until the signal is aborted. Logs a failure as a warning: at once, and
 * each minute while its message stays the same; but not a version that has expired (410), if nothing failed before. The
 * pauses after failures grow from 0.5 s to 30 s, until nothing has failed for two minutes, whatever worked in between; or
 * last as long as Retry-After says. Rejects with an error that is not of the API (isApiFailure).
 */
export async function keepTrying(
  once: () => Promise<void>,
  { message, failed, wait = pause, log, signal }: Trying,
): Promise<void> {
  let failures = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  let logged = { reason: "", at: Number.NEGATIVE_INFINITY };
  while (!signal.aborted) {
    try {
      await once();
      await pause(BETWEEN_MS * Math.random(), signal); // no hot loop if something cuts each watch off
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiFailure(error)) throw error;
      failed?.(error);
      const { message: reason } = error;
      const now = performance.now();
      if (now - failedAt >= RESET_MS) failures = 0;
      failedAt = now;
      const isUsual = failures === 0 && isResourceExpired(error); // of an API server that has just started, say
      if (!isUsual && (logged.reason !== reason || now - logged.at >= QUIET_MS)) {
        log.warn({ reason }, message);
        logged = { reason, at: now };
      }
      const wantedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      await wait(Math.max(wantedMs, backoffMs(failures, backoff, Math.random())), signal);
      failures += 1;
    }
  }
}

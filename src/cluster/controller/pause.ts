import { setTimeout as sleep } from "node:timers/promises";

/** The longest that a timer can wait: 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits `ms` milliseconds, however many. Resolves at once when the signal is aborted, so the caller has to look at the
 * signal.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = Math.max(ms, 0), first = true; (first || left > 0) && !signal.aborted; first = false) {
    const next = Math.min(left, LONGEST_MS);
    await sleep(next, undefined, { signal }).catch(() => undefined);
    left -= next;
  }
}

/** A pause of one loop that others can end. */
export interface Notifier {
  /** Ends the pause under way, or else the next one as soon as it begins. */
  notify(): void;
  /** Resolves after `ms`, when notified, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Creates a pause that `notify` ends at once. A `notify` between two pauses ends the next one. */
export function createNotifier(): Notifier {
  let notified = new AbortController();
  return {
    notify: () => notified.abort(),
    async wait(ms, signal) {
      await pause(ms, AbortSignal.any([notified.signal, signal]));
      notified = new AbortController();
    },
  };
}

import { setTimeout as sleep } from "node:timers/promises";

const LONGEST_MS = 2 ** 31 - 1;

/** Resolves after `ms`, or when the signal is aborted: the caller looks at the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = Math.max(ms, 0), first = true; (first || left > 0) && !signal.aborted; first = false) {
    const next = Math.min(left, LONGEST_MS);
    await sleep(next, undefined, { signal }).catch(() => undefined);
    left -= next;
  }
}

/** Lets one loop sleep until something happened; what happens while it is awake counts, too. */
export interface Notifier {
  notify(): void;
  /** Resolves when it is notified, or was since the last wait; after `ms`; or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Creates a pause that `notify` ends at once; a `notify` before `wait` counts. */
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

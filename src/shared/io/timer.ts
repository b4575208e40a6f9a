const LONGEST_MS = 2 ** 31 - 1;

/**
 * Calls `call` once after `ms`, which may be longer than a timer can be (24.8 days); as soon as possible if it is not
 * positive. Returns a function that cancels it.
 */
export function deadline(ms: number, call: () => void): () => void {
  let timer: Timer;
  const arm = (left: number): void => {
    const next = Math.max(0, Math.min(left, LONGEST_MS));
    timer = setTimeout(() => (left > next ? arm(left - next) : call()), next);
  };
  arm(ms);
  return () => clearTimeout(timer);
}

/**
 * Returns a signal that is aborted, by a TimeoutError, after `ms`, which may be longer than `AbortSignal.timeout` takes
 * (24.8 days).
 */
export function abortedAfter(ms: number): AbortSignal {
  if (ms <= LONGEST_MS) return AbortSignal.timeout(ms);
  const controller = new AbortController();
  deadline(ms, () => controller.abort(new DOMException("The operation timed out.", "TimeoutError")));
  return controller.signal;
}

/**
 * Returns the whole milliseconds until `end` (performance.now()), at least 1: after a stall, time may be up before
 * anything was tried.
 */
export function leftUntil(end: number): number {
  return Math.max(1, Math.round(end - performance.now()));
}

/**
 * Keeps the process running while it waits for signals alone, which would not keep it. Returns a function that ends
 * this.
 */
export function keepAlive(): () => void {
  const timer = setInterval(() => undefined, LONGEST_MS);
  return () => clearInterval(timer);
}

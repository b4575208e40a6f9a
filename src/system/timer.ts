const LONGEST_MS = 2 ** 31 - 1;

/**
 * Calls once after `ms`, also where that is longer than a timer can be (24.8 days); returns what cancels it. What is past is at
 * once: for a negative time Bun writes a warning to stderr.
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

/** As `AbortSignal.timeout`, also for longer than a timer can be: beyond that it would be aborted at once. */
export function abortedAfter(ms: number): AbortSignal {
  if (ms <= LONGEST_MS) return AbortSignal.timeout(ms);
  const controller = new AbortController();
  deadline(ms, () => controller.abort(new DOMException("The operation timed out.", "TimeoutError")));
  return controller.signal;
}

/** Whole milliseconds until then; at least a moment: on a machine that stood still, time may be up before anything was tried. */
export function leftUntil(end: number): number {
  return Math.max(1, Math.round(end - performance.now()));
}

/** Keeps the process running while it waits for signals alone, which do not; returns what lets it go. */
export function keepAlive(): () => void {
  const timer = setInterval(() => undefined, LONGEST_MS);
  return () => clearInterval(timer);
}

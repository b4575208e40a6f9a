// The only place in the tests that lets time pass. A test waits for what it needs (`until` in ebb.ts); these
// functions take time on purpose.

/** Waits, for something that is slow on purpose: an answer, a step, the pause of a client between two requests. */
export function takes(ms: number): Promise<void> {
  return Bun.sleep(ms);
}

/** Resolves as the promise does, or with undefined if that takes longer than `ms`. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const LOOK_MS = 2;

/**
 * Checks for `ms`, every 2 ms, that something does not happen. Rejects, naming `what`, as soon as `ask` returns true.
 */
export async function never(what: string, ask: () => boolean, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await takes(LOOK_MS))
    if (ask()) throw new Error(`never expected: ${what}`);
  if (ask()) throw new Error(`never expected: ${what}`);
}

/**
 * Resolves with a measure once it has been the same for `ms`, looking every 2 ms. Rejects, naming `what`, if it still
 * changes after `withinMs`.
 */
export async function settled<T>(what: string, measure: () => T, ms: number, withinMs = 20_000): Promise<T> {
  const start = performance.now();
  let [value, since] = [measure(), start];
  while (performance.now() - since < ms) {
    if (performance.now() - start > withinMs) throw new Error(`not settled within ${withinMs} ms: ${what}`);
    await takes(LOOK_MS);
    const now = measure();
    if (now !== value) [value, since] = [now, performance.now()];
  }
  return value;
}

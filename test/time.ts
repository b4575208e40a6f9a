// Where time passes in the tests. A test waits for what it needs (`until` in harness.ts); what is here takes time because that is
// what is meant. test/attacks/patience.test.ts finds sleeps anywhere else.

/** Something that is slow on purpose: an answer, a step, the pause of a client between two requests. */
export function takes(ms: number): Promise<void> {
  return Bun.sleep(ms);
}

/** What a promise comes to; undefined where it takes longer. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const LOOK_MS = 2;

/** Looks for so long whether something happens that must not. @throws Error as soon as it has */
export async function never(what: string, ask: () => boolean, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await takes(LOOK_MS))
    if (ask()) throw new Error(`never expected: ${what}`);
  if (ask()) throw new Error(`never expected: ${what}`);
}

/** What a measure has come to: the same for so long. @throws Error where it changes on and on */
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

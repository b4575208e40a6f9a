import { jest } from "bun:test";

/** The clock of this process, standing still: performance.now(), Date and timers. Disposing of it starts the real one. */
export interface FakeClock extends Disposable {
  /** Lets time pass, and calls the timers that come due. */
  pass(ms: number): void;
  /** Waits for a condition, as `until` of ebb.ts does, whose pauses would not end. */
  until(what: string, ask: () => boolean): Promise<void>;
  /** Lets time pass, 5 ms at a time, until the promise resolves. Resolves with its value, and how long that took. */
  timed<T>(promise: Promise<T>): Promise<readonly [T, number]>;
}

const LONGEST_NS = 30_000_000_000;
const STEP_MS = 5;

/** Stops the clock, so that code with real times need not take them. Files, processes and sockets go on. */
export function stopClock(): FakeClock {
  jest.useFakeTimers();
  const pass = (ms: number) => void jest.advanceTimersByTime(Math.ceil(ms)); // it would drop a part of a millisecond
  const until = async (what: string, ask: () => boolean) => {
    for (const end = Bun.nanoseconds() + LONGEST_NS; !ask(); await new Promise((resolve) => setImmediate(resolve)))
      if (Bun.nanoseconds() > end) throw new Error(`not within 30 s: ${what}`);
  };
  return {
    pass,
    until,
    async timed(promise) {
      const start = performance.now();
      let [isOver, tookMs] = [false, 0];
      const end = () => {
        [isOver, tookMs] = [true, performance.now() - start];
      };
      void promise.then(end, end);
      await until("it is over", () => {
        if (!isOver) pass(STEP_MS);
        return isOver;
      });
      return [await promise, tookMs];
    },
    [Symbol.dispose]: () => void jest.useRealTimers(),
  };
}

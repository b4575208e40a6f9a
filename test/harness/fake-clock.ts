import { jest } from "bun:test";

/** The clock of this process, standing still: performance.now(), Date and timers. Disposing of it starts the real one. */
export interface FakeClock extends Disposable {
  /** Lets time pass, and calls the timers that come due. */
  pass(ms: number): void;
  /** Waits for a condition, as `until` of harness.ts does, whose pauses would not end. */
  until(what: string, ask: () => boolean): Promise<void>;
}

const LONGEST_NS = 30_000_000_000;

/** Stops the clock, so that code with real times need not take them. Files, processes and sockets go on. */
export function stopClock(): FakeClock {
  jest.useFakeTimers();
  return {
    pass: (ms) => void jest.advanceTimersByTime(Math.ceil(ms)), // it would drop a part of a millisecond
    async until(what, ask) {
      for (const end = Bun.nanoseconds() + LONGEST_NS; !ask(); await new Promise((resolve) => setImmediate(resolve)))
        if (Bun.nanoseconds() > end) throw new Error(`not within 30 s: ${what}`);
    },
    [Symbol.dispose]: () => void jest.useRealTimers(),
  };
}

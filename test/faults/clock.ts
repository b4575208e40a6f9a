import { dlopen, ptr } from "bun:ffi";

const CLOCK_MONOTONIC = 1;
const { clock_gettime } = dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } }).symbols;

/**
 * Returns the nanoseconds of CLOCK_MONOTONIC, the clock of the applications' times too. `process.hrtime` counts from
 * Bun's own start.
 */
export function nowNs(): bigint {
  const time = new BigInt64Array(2);
  clock_gettime(CLOCK_MONOTONIC, ptr(time));
  return (time[0] as bigint) * 1_000_000_000n + (time[1] as bigint);
}

/** Returns the milliseconds of CLOCK_MONOTONIC. */
export function now(): number {
  return Number(nowNs()) / 1e6;
}

const BEAT_MS = 10;
/** A beat that is later than this, in ms, is no accident: the machine stood still. */
const STALL_MS = 40;

/** A time, in ms of CLOCK_MONOTONIC, in which the machine stood still. */
interface Stall {
  readonly from: number;
  readonly to: number;
}

/**
 * Starts to note when this machine has no time for this process, and so perhaps none for ebb. `within` returns the
 * milliseconds that it stood still between two times of CLOCK_MONOTONIC. Only the last 10,000 stalls are kept.
 */
export function watchStalls(): Disposable & { within(from: number, to: number): number } {
  const stalls: Stall[] = [];
  let last = now();
  const timer = setInterval(() => {
    const beat = now();
    if (beat - last > BEAT_MS + STALL_MS) stalls.push({ from: last, to: beat });
    if (stalls.length > 10_000) stalls.shift();
    last = beat;
  }, BEAT_MS);
  return {
    within(from, to) {
      let sum = 0;
      for (const stall of stalls) sum += Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from));
      return sum;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

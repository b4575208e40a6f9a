import { dlopen, ptr } from "bun:ffi";

const CLOCK_MONOTONIC = 1;
const { clock_gettime } = dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } }).symbols;

/** Nanoseconds by CLOCK_MONOTONIC, which applications tell their times by too. `process.hrtime` counts from Bun's own start. */
export function nowNs(): bigint {
  const time = new BigInt64Array(2);
  clock_gettime(CLOCK_MONOTONIC, ptr(time));
  return (time[0] as bigint) * 1_000_000_000n + (time[1] as bigint);
}

/** In milliseconds. */
export function now(): number {
  return Number(nowNs()) / 1e6;
}

const BEAT_MS = 10;
/** What is later than this was no chance: the machine stood still. */
const STALL_MS = 40;

export interface Stall {
  readonly from: number;
  readonly to: number;
}

/** Notes when this machine had no time for us: then it had none for ebb, perhaps. */
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

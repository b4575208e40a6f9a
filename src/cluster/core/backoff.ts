/** An exponential backoff: each rest is twice as long as the one before, up to the longest. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Returns how many milliseconds to rest, given the number of rests before this one (0 for the first). `chance`, a
 * random number from 0 to 1, makes it 50 to 100 % of the full rest, so that clients that failed together do not come
 * back together.
 */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff, chance: number): number {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 32));
  return whole * (0.5 + chance / 2);
}

/** Rests in milliseconds: each twice as long as the one before, up to the longest. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Returns how long to rest after `failures` failures (from 0): exponential, at least half of that by `chance` (0 to 1), so that
 * clients that failed together do not come back together.
 */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff, chance: number): number {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 32));
  return whole * (0.5 + chance / 2);
}

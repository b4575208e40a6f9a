/** Rests in milliseconds: each twice as long as the one before, up to the longest. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * How long to rest after so many failures (from 0). Between half of it and all of it, by chance (0 to 1): those that failed
 * together do not come back together.
 */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff, chance: number): number {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 32));
  return whole * (0.5 + chance / 2);
}

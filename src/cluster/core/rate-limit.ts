/** The limits of a token bucket, as client-go has it for requests (util/flowcontrol). */
export interface Rate {
  /** How many requests a second in the long run. */
  readonly perSecond: number;
  /** How many at once, after a pause. */
  readonly burst: number;
}

/** A token bucket: each request takes a token, and new ones are added over time. */
export interface Bucket {
  /** The number of tokens; below 0 if callers wait, who have taken theirs in advance. */
  readonly tokens: number;
  /** The time up to which tokens were added, in milliseconds of a monotonic clock. */
  readonly at: number;
}

/** Returns a bucket with `burst` tokens. `now` is in milliseconds of a monotonic clock. */
export function fullBucket({ burst }: Rate, now: number): Bucket {
  return { tokens: burst, at: now };
}

/**
 * Takes one token. Returns the bucket without it, and how many milliseconds the caller has to wait before it goes on;
 * callers that wait keep their order.
 */
export function take(bucket: Bucket, { perSecond, burst }: Rate, now: number): readonly [Bucket, waitMs: number] {
  const elapsedMs = Math.max(0, now - bucket.at);
  const tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000) - 1;
  return [{ tokens, at: Math.max(now, bucket.at) }, tokens >= 0 ? 0 : (-tokens * 1000) / perSecond];
}

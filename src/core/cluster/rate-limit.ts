/** A token bucket, as client-go has it for requests (util/flowcontrol): so many a second in the long run, a burst at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface Bucket {
  /** Below 0: taken in advance, by those who wait. */
  readonly tokens: number;
  /** Milliseconds, by a clock that does not go back; it is filled up to then. */
  readonly at: number;
}

/** Returns a full token bucket. `now` is in milliseconds. */
export function fullBucket({ burst }: Rate, now: number): Bucket {
  return { tokens: burst, at: now };
}

/** Takes one token. The caller goes on after `waitMs`; callers keep their order. */
export function take(bucket: Bucket, { perSecond, burst }: Rate, now: number): readonly [Bucket, waitMs: number] {
  const elapsedMs = Math.max(0, now - bucket.at);
  const tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000) - 1;
  return [{ tokens, at: Math.max(now, bucket.at) }, tokens >= 0 ? 0 : (-tokens * 1000) / perSecond];
}

/** Returns a token that was taken and not used. */
export function giveBack(bucket: Bucket, { burst }: Rate): Bucket {
  return { ...bucket, tokens: Math.min(burst, bucket.tokens + 1) };
}

/** Random numbers from a seed: the same seed gives the same sequence, everywhere. */
export interface Random {
  /** Returns an integer from `low` to `high`, both included. */
  int(low: number, high: number): number;
  /** Returns true with that probability, 0 to 1. */
  chance(probability: number): boolean;
  /** Returns one of the values, all equally likely. */
  pick<const T>(from: readonly T[]): T;
  /** Returns one of the values, as likely as its weight. */
  weigh<const T>(...from: readonly (readonly [weight: number, value: T])[]): T;
  /** Returns `count` different values, in random order; all of them if there are not so many. */
  some<T>(from: readonly T[], count: number): readonly T[];
}

/** Creates random numbers from a seed. */
export function randomOf(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  /** Returns a number from 0 up to but without 1 (mulberry32). */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(from: readonly T[]) => from[int(0, from.length - 1)] as T;
  return {
    int,
    pick,
    chance: (probability) => next() < probability,
    weigh(...from) {
      let at = next() * from.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of from) {
        at -= weight;
        if (at < 0) return value;
      }
      return (from.at(-1) as (typeof from)[number])[1];
    },
    some(from, count) {
      const left = [...from];
      return Array.from(
        { length: Math.min(count, left.length) },
        () => left.splice(int(0, left.length - 1), 1)[0],
      ) as (typeof from)[number][];
    },
  };
}

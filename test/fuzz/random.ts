/** Random numbers from a seed (mulberry32). */
export interface Random {
  /** Returns an integer from 0 to n - 1. */
  below(n: number): number;
  /** Returns one of some values. */
  of<T>(some: readonly T[]): T;
}

/** Creates random numbers from a seed: the same seed gives the same sequence. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (n: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
  return { below, of: (some) => some[below(some.length)] as (typeof some)[number] };
}

/** Makes a text of one to eight lines; then up to three places are damaged, repeated or cut out. */
export function textOf(random: Random, line: (random: Random) => string, words: readonly string[]): string {
  let text = "";
  for (let left = random.below(8); left >= 0; left -= 1) text += line(random);
  for (let left = random.below(4); left > 0; left -= 1) text = damaged(random, text, words);
  return text;
}

function damaged(random: Random, text: string, words: readonly string[]): string {
  const at = random.below(text.length + 1);
  const end = at + random.below(10);
  const kind = random.below(4);
  if (kind === 0) return text.slice(0, at) + random.of(words) + text.slice(at);
  if (kind === 1) return text.slice(0, at) + text.slice(end);
  if (kind === 2) return text.slice(0, at) + text.slice(at, end).repeat(random.below(2000)) + text.slice(end);
  return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at);
}

/** Names of listeners, and a regular expression that matches them and few others. */
export interface NameGroup {
  /** An RE2 expression that matches the whole name. */
  readonly pattern: string;
  readonly names: readonly string[];
}

/** The most names in a group. */
const MOST = 50;
/** The most characters in a pattern's character class, and the most in the prefix before it. */
const MOST_CHARACTERS = 12;
const LONGEST = 40;

/**
 * Groups names by their first characters, at most 50 in a group, each group with a regular expression that Envoy
 * accepts.
 *
 * By default Envoy refuses an expression whose program has more than 100 instructions
 * (re2.max_program_size.error_level): one that lists a few names is too long already.
 */
export function groupNames(names: readonly string[]): readonly NameGroup[] {
  const groups: NameGroup[] = [];
  // not by recursion: names may be as long as they like
  for (const pending: Alike[] = [{ prefix: "", names }]; ; ) {
    const next = pending.pop();
    if (next === undefined) return groups;
    const { whole, more } = split(next);
    for (const group of whole) groups.push(group);
    for (const each of more) pending.push(each);
  }
}

/** Names that share a prefix. */
interface Alike {
  readonly prefix: string;
  readonly names: readonly string[];
}

/** Splits names into groups that are complete (`whole`) and sets that are still too large for a group (`more`). */
function split({ prefix: known, names }: Alike): {
  readonly whole: readonly NameGroup[];
  readonly more: readonly Alike[];
} {
  if (names.length === 0) return { whole: [], more: [] };
  if (names.length <= MOST) return { whole: [{ pattern: `${patternOf(known)}.*`, names }], more: [] };
  const prefix = names[0]?.slice(0, commonLength(names, known.length)) ?? "";
  const whole: NameGroup[] = [];
  const more: Alike[] = [];
  let characters = "";
  let some: string[] = [];
  const flush = (): void => {
    if (some.length > 0) whole.push({ pattern: `${patternOf(prefix)}[${characters}].*`, names: some });
    [characters, some] = ["", []];
  };
  for (const [next, others] of byCharacter(names, prefix.length)) {
    if (next === "") whole.push({ pattern: patternOf(prefix), names: others });
    else if (others.length > MOST || !isAscii(next)) more.push({ prefix: prefix + next, names: others });
    else {
      if (some.length + others.length > MOST || characters.length >= 2 * MOST_CHARACTERS) flush();
      characters += escaped(next);
      some.push(...others);
    }
  }
  flush();
  return { whole, more };
}

/**
 * Returns the length of the prefix that all names share, of which the first `known` characters are known to be shared.
 */
function commonLength([first = "", ...others]: readonly string[], known: number): number {
  let length = first.length;
  for (const other of others) {
    let at = known;
    while (at < length && other[at] === first[at]) at += 1;
    length = at;
  }
  return length;
}

function byCharacter(names: readonly string[], at: number): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(names, (name) => name.charAt(at));
}

/**
 * Returns a regular expression for names with this prefix. It has only the last 40 characters (LONGEST), which differ
 * most.
 */
function patternOf(prefix: string): string {
  const [start, end] = prefix.length > LONGEST ? [".*", prefix.slice(-LONGEST)] : ["", prefix];
  return start + [...end].map((character) => (isAscii(character) ? escaped(character) : ".*")).join("");
}

function isAscii(character: string): boolean {
  return character >= " " && character <= "~";
}

function escaped(character: string): string {
  return /[A-Za-z0-9_]/.test(character) ? character : `\\${character}`;
}

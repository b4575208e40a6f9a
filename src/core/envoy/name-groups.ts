/** Names, and a regular expression that matches them and few others. */
export interface NameGroup {
  /** For a match of the whole name, in RE2. */
  readonly pattern: string;
  readonly names: readonly string[];
}

/** So many names are in a group at most. */
const MOST = 50;
/** So many characters are in a class at most, and so many before it. */
const MOST_CHARACTERS = 12;
const LONGEST = 40;

/**
 * Names in groups by how they begin. Envoy refuses a regular expression whose program has more than 100 instructions, where
 * its runtime does not say otherwise (re2.max_program_size.error_level), so a few names in a row would be too many.
 */
export function groupNames(names: readonly string[], prefix = ""): readonly NameGroup[] {
  if (names.length <= MOST) return names.length === 0 ? [] : [{ pattern: `${patternOf(prefix)}.*`, names }];
  const groups: NameGroup[] = [];
  let characters = "";
  let some: readonly string[] = [];
  const flush = (): void => {
    if (some.length > 0) groups.push({ pattern: `${patternOf(prefix)}[${characters}].*`, names: some });
    [characters, some] = ["", []];
  };
  for (const [next, others] of byCharacter(names, prefix.length)) {
    if (next === "") groups.push({ pattern: patternOf(prefix), names: others });
    else if (others.length > MOST || !isAscii(next)) groups.push(...groupNames(others, prefix + next));
    else {
      if (some.length + others.length > MOST || characters.length >= 2 * MOST_CHARACTERS) flush();
      characters += escaped(next);
      some = [...some, ...others];
    }
  }
  flush();
  return groups;
}

function byCharacter(names: readonly string[], at: number): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(names, (name) => name.charAt(at));
}

/** Of a long one its end, which tells more. */
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

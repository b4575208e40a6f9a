/**
 * Returns that of the words that was probably meant by `given`: one that is equal but for case and `_`, one that begins
 * with it (three letters or more), or one that differs by one slip. Returns undefined if there is no such word.
 */
export function nearest(given: string, words: readonly string[]): string | undefined {
  const meant = plain(given);
  return (
    words.find((word) => word === meant) ??
    words.find((word) => meant.length >= 3 && word.startsWith(meant)) ??
    words.find((word) => isOneSlipAway(word, meant))
  );
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll("_", "-");
}

/**
 * Reports whether the words differ at most by one character that is added, missing or changed, or by two neighbours
 * exchanged (Damerau-Levenshtein distance 0 or 1).
 */
export function isOneSlipAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  const exchanged = `${restA[1] ?? ""}${restA[0] ?? ""}${restA.slice(2)}`;
  return (
    restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1) || exchanged === restB
  );
}

type Flags = Readonly<Record<string, { readonly flag: string }>>;
type Commands = Readonly<Record<string, { readonly options: Flags }>>;

/**
 * Returns a line for each of these unknown flags (names without dashes) that other commands have: `--json belongs to
 * ebb config and ebb status: call that, or leave the flag out`. Ignores flags that no command has.
 */
export function describeFlagOwners(flags: readonly string[], commands: Commands): readonly string[] {
  return flags.flatMap((flag) => {
    const owners = Object.entries(commands).filter(([, { options }]) => hasFlag(options, flag));
    if (owners.length === 0) return [];
    return [`--${flag} belongs to ${listed(owners.map(([name]) => `ebb ${name}`))}: call that, or leave the flag out`];
  });
}

function hasFlag(options: Flags, flag: string): boolean {
  return Object.values(options).some((option) => option.flag === flag);
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? (names[0] as string) : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

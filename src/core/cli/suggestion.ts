/**
 * Returns the known word that was probably meant by `given`: one that is equal but for case and `_`, one that begins
 * with it (three letters or more), or one that differs by one slip. Returns undefined if there is no such word.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const word = plain(given);
  return (
    known.find((name) => name === word) ??
    known.find((name) => word.length >= 3 && name.startsWith(word)) ??
    known.find((name) => isOneSlipAway(name, word))
  );
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll("_", "-");
}

/**
 * Reports whether the words differ at most by one character that is added, missing or changed, or by two neighbours
 * exchanged (Damerau-Levenshtein distance 0 or 1).
 */
function isOneSlipAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  const exchanged = `${restA[1] ?? ""}${restA[0] ?? ""}${restA.slice(2)}`;
  return (
    restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1) || exchanged === restB
  );
}

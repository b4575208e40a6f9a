/** Something that a chart's values decide: whether this expression of Helm is true. */
export interface Choice {
  readonly name: string;
  readonly expression: string;
}

/** Which of all cases something is in: a bit for each. */
export type Cases = bigint;

/** All cases of some choices, and the words for parts of them. */
export interface Conditions {
  /** What was chosen in each case, by the choices' names. */
  readonly cases: readonly Readonly<Record<string, boolean>>[];
  readonly all: Cases;
  /**
   * Returns the condition of Helm that holds in these cases, and in no other of `of`.
   * @throws Error if it would be longer than three choices
   */
  readonly words: (cases: Cases, of: Cases) => string;
}

/** Lists the cases of these choices that are possible, the one with all of them first: there most is printed. */
export function conditionsOf(
  choices: readonly Choice[],
  isPossible: (chosen: Readonly<Record<string, boolean>>) => boolean,
): Conditions {
  const cases = Array.from({ length: 2 ** choices.length }, (_, number) =>
    Object.fromEntries(choices.map(({ name }, at) => [name, ((number >> at) & 1) === 0])),
  ).filter(isPossible);
  const all = bits(cases, () => true);
  const terms = choices.flatMap(({ name, expression }): Term[] => {
    const where = bits(cases, (chosen) => chosen[name] === true);
    const text = expression.includes(" ") ? `(${expression})` : expression;
    return [
      { text, where },
      { text: `(not ${text})`, where: all & ~where },
    ];
  });
  const known = new Map<string, string>();
  const words = (wanted: Cases, of: Cases): string => {
    const key = `${wanted} ${of}`;
    const text = known.get(key) ?? search(terms, wanted, of);
    known.set(key, text);
    return text;
  };
  return { cases, all, words };
}

interface Term {
  readonly text: string;
  readonly where: Cases;
}

function bits<T>(cases: readonly T[], isIn: (one: T) => boolean): Cases {
  return cases.reduce((sum, one, at) => (isIn(one) ? sum | (1n << BigInt(at)) : sum), 0n);
}

/** Finds the shortest condition. */
function search(terms: readonly Term[], wanted: Cases, of: Cases): string {
  for (const { text, where } of candidates(terms)) {
    if ((where & of) === wanted) return text.replace(/^\((.*)\)$/, "$1");
  }
  throw new Error("no condition of three choices says when this is printed");
}

function* candidates(terms: readonly Term[]): Generator<Term> {
  yield* terms;
  const pairs = [...pairsOf(terms, terms)];
  yield* pairs;
  yield* pairsOf(terms, pairs);
}

function* pairsOf(some: readonly Term[], others: readonly Term[]): Generator<Term> {
  for (const a of some) {
    for (const b of others) {
      yield { text: `(and ${a.text} ${b.text})`, where: a.where & b.where };
      yield { text: `(or ${a.text} ${b.text})`, where: a.where | b.where };
    }
  }
}

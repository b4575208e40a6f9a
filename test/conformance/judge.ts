import type { Case, Seen } from "./case.ts";
import { chanceOf } from "./chances.ts";
import type { DifferenceId } from "./differences.ts";
import type { Rival } from "./rivals.ts";
import type { Outcome } from "./run.ts";

/** Returns a sentence for each thing that was expected of a tool in a case and did not happen. */
export function judge(
  given: Case,
  { seen, stderr, waitedMs, tookMs }: Outcome,
  expected: Seen = given.expect,
): string[] {
  const { says, atLeastMs = 0, atMostMs = Number.POSITIVE_INFINITY } = given;
  const problems = fieldsThatDiffer(seen, expected).map(
    (field) => `${field}: expected ${JSON.stringify(expected[field])}, got ${JSON.stringify(seen[field])}`,
  );
  for (const text of says ?? []) if (!stderr.includes(text)) problems.push(`stderr lacks ${JSON.stringify(text)}`);
  if (says?.length === 0 && stderr !== "") problems.push("stderr is not empty");
  if (waitedMs < atLeastMs) problems.push(`waited ${waitedMs} ms, less than ${atLeastMs}`);
  if (tookMs > atMostMs) problems.push(`took ${tookMs} ms, more than ${atMostMs}`);
  return problems;
}

/** The verdict on a rival in a case. */
export interface Verdict {
  /** What the rival does differently, unexplained by a listed difference. */
  readonly unexplained: readonly string[];
  /** The differences that this case shows. */
  readonly shown: readonly DifferenceId[];
  /** The differences that it should show, and does not. */
  readonly missing: readonly DifferenceId[];
  /** What the rival did that it does only now and then. */
  readonly chance?: string;
}

/**
 * Judges a rival in a case: it must do as ebb does, but for the differences that the case names, and what chances.ts
 * says.
 */
export function judgeRival(given: Case, rival: Rival, outcome: Outcome): Verdict {
  const differs = (given.differs ?? []).find(({ rivals }) => rivals.includes(rival));
  const verdict = judgeBy(given, differs, outcome);
  if (verdict.unexplained.length + verdict.missing.length === 0) return verdict;
  const chance = chanceOf(given, rival, outcome.seen, { ...given.expect, ...differs?.sees });
  return chance === undefined ? verdict : { unexplained: [], missing: [], shown: [chance.by], chance: chance.when };
}

function judgeBy(given: Case, differs: NonNullable<Case["differs"]>[number] | undefined, outcome: Outcome): Verdict {
  const { says: _, atMostMs: __, ...same } = given;
  if (differs === undefined) return { unexplained: judge(same, outcome), shown: [], missing: [] };
  const ids = [differs.by].flat();
  const { atLeastMs: ___, ...other } = same;
  const unexplained = judge(other, outcome, { ...given.expect, ...differs.sees });
  const isSame = fieldsThatDiffer(outcome.seen, given.expect).length === 0;
  return isSame ? { unexplained: [], shown: [], missing: ids } : { unexplained, shown: ids, missing: [] };
}

function fieldsThatDiffer(a: Seen, b: Seen): readonly (keyof Seen)[] {
  return (Object.keys(b) as (keyof Seen)[]).filter((field) => !Bun.deepEquals(a[field], b[field]));
}

import { type Aspect, linesIn } from "../compare.ts";
import type { Facts, Line } from "../facts.ts";
import type { Known } from "./entry.ts";
import { leaving } from "./leaving.ts";
import { requests } from "./requests.ts";
import { running } from "./running.ts";
import { waiting } from "./waiting.ts";

/** All listed differences, as they show in random cases. */
export const known: readonly Known[] = [...waiting, ...running, ...leaving, ...requests];

export interface Explained {
  /** The aspects that nothing explains. */
  readonly left: readonly Aspect[];
  /** The differences that explain the others. */
  readonly by: readonly Known["by"][];
}

/** Explains the aspects in which two runs differ by listed differences. */
export function unexplained(found: readonly Aspect[], facts: Facts): Explained {
  const here =
    found.length === 0 ? [] : known.filter((each) => each.rivals.includes(facts.plan.rival) && each.isHere(facts));
  const by = new Set<Known["by"]>();
  const left = found.filter((aspect) => {
    const explaining = explain(aspect, here, facts);
    for (const each of explaining) by.add(each.by);
    return explaining.length === 0;
  });
  return { left, by: [...by] };
}

/** Returns the differences that together explain an aspect; none if something of it is left. */
function explain(aspect: Aspect, here: readonly Known[], facts: Facts): readonly Known[] {
  const whole = here.filter(({ isAll, shows }) => isAll === true || shows?.[aspect]?.(facts) === true);
  if (whole.length > 0) return whole;
  const lines = linesThatDiffer(aspect, facts);
  const explaining = lines.map((line) => here.filter((each) => each.lines?.[aspect]?.(line, facts) === true));
  return explaining.every((some) => some.length > 0) ? explaining.flat() : [];
}

function linesThatDiffer(aspect: Aspect, { ours, theirs }: Facts): readonly Line[] {
  const [mine, its] = [linesIn(aspect, ours), linesIn(aspect, theirs)];
  const lines = (all: readonly string[], others: readonly string[], of: Line["of"]) =>
    all.filter((text) => !others.includes(text)).map((text) => ({ text, of }));
  return [...lines(mine, its, "ebb"), ...lines(its, mine, "it")];
}

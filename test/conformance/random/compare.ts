import type { Outcome } from "../run.ts";

/** The aspects in which two tools can differ. */
export const aspects = [
  "code",
  "started",
  "polls",
  "requests",
  "signals",
  "agent",
  "stdout",
  "given",
  "left",
  "waited",
  "leaving",
] as const;
export type Aspect = (typeof aspects)[number];

/** The distance, in ms, up to which two times count as the same: less than that of any two limits in a plan. */
export const MARGIN_MS = 1200;

/** Returns the aspects in which two runs differ. */
export function compare(ours: Outcome, theirs: Outcome): readonly Aspect[] {
  return aspects.filter((aspect) => !isSame(aspect, ours, theirs));
}

function isSame(aspect: Aspect, ours: Outcome, theirs: Outcome): boolean {
  if (aspect === "waited" || aspect === "leaving") {
    // both were ended by the limit that each has
    if ([ours, theirs].every(({ seen }) => seen.code === "still running")) return true;
    const [a, b] = [valueIn(aspect, ours), valueIn(aspect, theirs)] as readonly (number | undefined)[];
    if (a === undefined || b === undefined) return true; // the exit code and `started` tell of that
    return Math.abs(a - b) <= marginOf(ours, theirs);
  }
  if (aspect === "given" && [ours, theirs].some(({ seen }) => seen.started === "no")) return true; // `started` tells of that
  return Bun.deepEquals(valueIn(aspect, ours), valueIn(aspect, theirs));
}

/** Returns the distance up to which the times of two runs count as the same, more if the machine stood still. */
export function marginOf(ours: Outcome, theirs: Outcome): number {
  return MARGIN_MS + 2 * (ours.stalledMs + theirs.stalledMs);
}

/** Returns an aspect of a run, to be compared or shown. */
export function valueIn(aspect: Aspect, outcome: Outcome): unknown {
  switch (aspect) {
    case "given":
      return [...outcome.given].sort();
    case "left":
      return outcome.left;
    case "waited":
      return outcome.waitedMs;
    case "leaving":
      return outcome.leavingMs;
    default:
      return outcome.seen[aspect];
  }
}

/** Returns an aspect of a run that is a list, as lines; none if it is not a list. */
export function linesIn(aspect: Aspect, outcome: Outcome): readonly string[] {
  const value = valueIn(aspect, outcome);
  return Array.isArray(value) ? value.map(String) : [];
}

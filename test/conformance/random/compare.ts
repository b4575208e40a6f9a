import type { Outcome } from "../run.ts";

/** What two tools can differ in. */
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

/** Both times of an aspect are the same, where they are no further apart: less than what any two of a plan's limits are. */
export const MARGIN_MS = 1200;

/** Those in which they differ. */
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

/** What a machine took that stood still meanwhile is neither's. */
export function marginOf(ours: Outcome, theirs: Outcome): number {
  return MARGIN_MS + 2 * (ours.stalledMs + theirs.stalledMs);
}

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

/** An aspect that is lines, or none. */
export function linesIn(aspect: Aspect, outcome: Outcome): readonly string[] {
  const value = valueIn(aspect, outcome);
  return Array.isArray(value) ? value.map(String) : [];
}

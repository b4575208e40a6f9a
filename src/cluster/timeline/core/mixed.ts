import type { Line } from "./timeline.ts";

/** Lines of one container may be written, by a hook beside the app, in another order, but not by so many milliseconds. */
const DISORDER_MS = 1000;

/** Returns the sources whose lines, in the order in which they were read, name no pod and are not of one container. */
export function mixedSources(lines: readonly Line[]): readonly string[] {
  const unnamed = lines.filter(({ isNamed }) => !isNamed);
  const sources = [...Map.groupBy(unnamed, ({ pod }) => pod)];
  return sources.flatMap(([source, those]) => (goesBack(those) || doRunsOverlap(those) ? [source] : []));
}

/** Reports whether the time goes back: the logs of pods stand one after the other. */
function goesBack(lines: readonly Line[]): boolean {
  return lines.some(({ at }, nth) => at < (lines[nth - 1]?.at ?? at) - DISORDER_MS);
}

/** Reports whether a command was started before the one before it had ended. */
function doRunsOverlap(lines: readonly Line[]): boolean {
  const ends = lines.filter(({ what, start, at }) => what === "end" && start < at).toSorted((a, b) => a.at - b.at);
  return ends.some(({ start }, nth) => start < (ends[nth - 1]?.at ?? start));
}

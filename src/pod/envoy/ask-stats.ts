import { needsAll } from "./core/counts.ts";
import { allStatsPath, readStats, type Stats, statsPath } from "./core/stats.ts";

/**
 * Asks an Envoy by `get` for its statistics: for those that were written, and if these do not tell enough, for all.
 * `textOf` returns an answer's text. Resolves with the best answer, and with what it says, undefined if that is not
 * statistics.
 */
export async function askStats<A>(
  get: (path: string) => Promise<A>,
  textOf: (answer: A) => string | undefined,
): Promise<{ readonly answer: A; readonly stats: Stats | undefined }> {
  const ask = async (path: string) => {
    const answer = await get(path);
    const text = textOf(answer);
    return { answer, stats: text === undefined ? undefined : readStats(text) };
  };
  const written = await ask(statsPath);
  if (written.stats === undefined || !needsAll(written.stats)) return written;
  const all = await ask(allStatsPath);
  return all.stats === undefined && !written.stats.isRestarted ? written : all;
}

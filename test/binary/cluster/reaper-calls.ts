import { until } from "../../harness/ebb.ts";
import type { Reaper } from "./reaper.ts";

export const LONG_MS = 60_000;

/** Resolves once the reaper has logged for `count` pods that their sidecars have ended. */
export const ended = (reaper: Reaper, count: number) =>
  until(`${count} ended`, () => reaper.said("sidecars ended").length >= count || undefined, LONG_MS);

/** Returns the value of a metric, given its name and labels as they are written. Rejects if it is not there. */
export async function metric(reaper: Reaper, line: string): Promise<number> {
  const text = await (await fetch(`${reaper.health}/metrics`)).text();
  const found = text.split("\n").find((each) => each.startsWith(`${line} `));
  if (found === undefined) throw new Error(`no ${line} in\n${text}`);
  return Number(found.slice(line.length));
}

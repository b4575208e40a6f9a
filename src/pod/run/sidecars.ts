import type { Settings } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { abortedAfter } from "../../shared/io/timer.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { unnamedFor, whyUnnamed } from "../../shared/sidecars/core/unnamed.ts";
import { type FoundSidecars, findSidecars, type SidecarSettings } from "../find/find.ts";
import type { Wait } from "../wait/waiting.ts";

/** The part of a run from which its sidecars are known. */
export interface SidecarContext {
  readonly env: Environment;
  readonly settings: SidecarSettings & Settings<"quitTimeout">;
  readonly log: Log;
  readonly wait?: Wait;
}

/** Returns what the wait found, unless that is nothing, or something that has not shown yet what it is: then look again. */
function foundByWait({ wait }: SidecarContext): FoundSidecars | undefined {
  const here = wait?.here();
  if (here === undefined || here.sidecars.length === 0) return undefined;
  for (const { isSuggested } of here.found) if (isSuggested === true) return undefined;
  return here;
}

/** Returns the sidecars that the wait found; undefined if they are to be looked for again. */
export function waitedFor(run: SidecarContext): readonly Sidecar[] | undefined {
  return foundByWait(run)?.sidecars;
}

/**
 * Resolves with the sidecars to quit or drain: those that the wait found (`waitedFor`), else those that are there now,
 * because a sidecar may come late. Logs a warning for each that only a port suggests, or whose address nothing names.
 * `actMs` is the time for quitting or draining in all.
 */
export async function currentSidecars(
  run: SidecarContext,
  purpose: "quit" | "drain",
  actMs = run.settings.quitTimeout,
): Promise<readonly Sidecar[]> {
  const { wait, settings, env, log } = run;
  const waited = foundByWait(run);
  const before = wait?.here()?.found;
  const here =
    waited ?? (await findSidecars(settings, { env, forMs: 0, before, actMs, signal: abortedAfter(actMs), log }));
  const message = purpose === "quit" ? "did not shut down a proxy" : "did not drain a proxy";
  const doubts = waited === undefined ? here.doubts : [];
  for (const reason of [...doubts, ...unnamedFor([purpose], here, settings).map(whyUnnamed)])
    log.warn({ reason }, message);
  return here.sidecars;
}

import type { Settings } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { abortedAfter } from "../../shared/io/timer.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { findSidecars, type SidecarSettings } from "../find/find.ts";
import type { Wait } from "../wait/waiting.ts";

/** The part of a run from which its sidecars are known. */
export interface SidecarContext {
  readonly env: Environment;
  readonly settings: SidecarSettings & Settings<"quitTimeout">;
  readonly log: Log;
  readonly wait?: Wait;
}

/**
 * Returns the sidecars that the wait found. Returns undefined if it found none, or one that has not shown yet what it
 * is: then look again.
 */
export function waitedFor({ wait }: SidecarContext): readonly Sidecar[] | undefined {
  const here = wait?.here();
  if (here === undefined || here.sidecars.length === 0) return undefined;
  for (const { isSuggested } of here.found) if (isSuggested === true) return undefined;
  return here.sidecars;
}

/**
 * Resolves with the sidecars to quit or drain: those that the wait found (`waitedFor`), else those that are there now,
 * because a sidecar may come late. Logs a warning for each that only a port suggests. `actMs` is the time for quitting
 * or draining in all.
 */
export async function currentSidecars(
  run: SidecarContext,
  purpose: "quit" | "drain",
  actMs = run.settings.quitTimeout,
): Promise<readonly Sidecar[]> {
  const { wait, settings, env, log } = run;
  const waited = waitedFor(run);
  if (waited !== undefined) return waited;
  const look = { env, forMs: 0, before: wait?.here()?.found, actMs, signal: abortedAfter(actMs), log };
  const { sidecars, doubts } = await findSidecars(settings, look);
  const message = purpose === "quit" ? "did not shut down a proxy" : "did not drain a proxy";
  for (const reason of doubts) log.warn({ reason }, message);
  return sidecars;
}

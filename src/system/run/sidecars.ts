import type { Environment } from "../../core/base/environment.ts";
import type { Settings } from "../../core/cli/options.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { Log } from "../output/log.ts";
import { findSidecars, type SidecarSettings } from "../sidecars/find.ts";
import { isUnsettled, settle } from "../sidecars/settle.ts";
import { createStrangers } from "../sidecars/strangers.ts";
import type { Wait } from "../sidecars/waiting.ts";
import { abortedAfter } from "../timer.ts";

/** The part of a run from which its sidecars are known. */
export interface SidecarContext {
  readonly env: Environment;
  readonly settings: SidecarSettings & Settings<"quitTimeout">;
  readonly log: Log;
  readonly wait?: Wait;
}

/**
 * Returns the sidecars that the wait found. Returns undefined if it found none, or if `settle` has to check them first.
 */
export function waitedFor({ wait, settings }: SidecarContext, purpose: "quit"): readonly Sidecar[] | undefined {
  const here = wait?.here();
  if (here === undefined || here.sidecars.length === 0 || isUnsettled(here, settings, purpose)) return undefined;
  return here.sidecars;
}

/**
 * Resolves with the sidecars to quit or drain: those that the wait found or, if it found none or was skipped, those
 * that are there now, because a sidecar may come late. Checks them by `settle`, and logs a warning for each proxy that
 * it drops. `actMs` is the time for quitting or draining in all.
 */
export async function knownSidecars(
  { wait, settings, env, log }: SidecarContext,
  purpose: "quit" | "drain",
  actMs = settings.quitTimeout,
): Promise<readonly Sidecar[]> {
  const signal = abortedAfter(actMs);
  const { onStranger } = createStrangers(
    log,
    "warn",
    purpose === "quit" ? "did not tell a proxy to quit" : "did not drain a proxy",
  );
  const waited = wait?.here();
  const look = { env, forMs: 0, isAgain: waited !== undefined, actMs, signal, log, onStranger };
  const isFound = waited !== undefined && waited.sidecars.length > 0;
  const here = isFound ? waited : await findSidecars(settings, look);
  return (await settle(here, settings, { ...look, purpose })).sidecars;
}

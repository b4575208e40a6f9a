import type { Environment } from "../../core/base/environment.ts";
import type { Settings } from "../../core/cli/options.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { Log } from "../output/log.ts";
import { findSidecars, type SidecarSettings } from "../sidecars/find.ts";
import { isUnsettled, settle } from "../sidecars/settle.ts";
import { createStrangers } from "../sidecars/strangers.ts";
import type { Wait } from "../sidecars/waiting.ts";
import { abortedAfter } from "../timer.ts";

/** What a run knows of its sidecars. */
export interface SidecarContext {
  readonly env: Environment;
  readonly settings: SidecarSettings & Settings<"quitTimeout">;
  readonly log: Log;
  readonly wait?: Wait;
}

/** Returns the sidecars that the wait found; undefined where they have to be looked for again. */
export function waitedFor({ wait, settings }: SidecarContext, purpose: "quit"): readonly Sidecar[] | undefined {
  const here = wait?.here();
  if (here === undefined || here.sidecars.length === 0 || isUnsettled(here, settings, purpose)) return undefined;
  return here.sidecars;
}

/**
 * Returns the sidecars that the wait found; where it found none, or was skipped, those that are there now: a sidecar may come
 * late.
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
    purpose === "quit" ? "did not quit a proxy" : "did not drain a proxy",
  );
  const waited = wait?.here();
  const look = { env, forMs: 0, isAgain: waited !== undefined, actMs, signal, log, onStranger };
  const isFound = waited !== undefined && waited.sidecars.length > 0;
  const here = isFound ? waited : await findSidecars(settings, look);
  return (await settle(here, settings, { ...look, purpose })).sidecars;
}

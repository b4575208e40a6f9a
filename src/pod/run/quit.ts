import type { Settings } from "../../shared/cli/core/options.ts";
import { leftUntil } from "../../shared/io/timer.ts";
import { withTimeLimit } from "../process/unexpected.ts";
import { logQuit, quitAll } from "../quit/quit.ts";
import { knownSidecars, type SidecarContext } from "./sidecars.ts";

/** The part of a run that quitting needs. */
export interface QuittingRun extends SidecarContext {
  readonly settings: SidecarContext["settings"] & Settings<"header">;
  /** Whether the sidecars have been up. */
  readonly isReady: boolean;
}

/**
 * Tells the sidecars to quit, and logs the outcome of each quit. Takes three times `--quit-timeout` and 1 s at most.
 */
export async function quitSidecars(run: QuittingRun): Promise<void> {
  // thrice: to find them, to send the quits with +, and to send the others
  await withTimeLimit(tellSidecars(run), 3 * run.settings.quitTimeout);
}

async function tellSidecars(run: QuittingRun): Promise<void> {
  const { settings, log } = run;
  const end = performance.now() + settings.quitTimeout;
  const reports = await quitAll(await knownSidecars(run, "quit"), {
    timeoutMs: leftUntil(end),
    headers: settings.header,
    wereReady: run.isReady,
  });
  for (const report of reports) logQuit(log, report.error === undefined ? "warn" : "error", report);
}

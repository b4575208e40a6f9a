import { leftUntil } from "../../shared/io/timer.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { runsBeside } from "../announce/announce.ts";
import { runOrLogBug, withTimeLimit } from "../bug.ts";
import { hasAgent } from "../quit/agent.ts";
import { logQuit, quitAll } from "../quit/quit.ts";
import type { SidecarState } from "../quit/send-quit.ts";
import type { Run } from "./run.ts";
import { currentSidecars, waitedFor } from "./sidecars.ts";

/** Notes which sidecars have an agent that has not got its SIGTERM. */
export function noteAgents(run: Run): void {
  run.agents = (waitedFor(run) ?? []).filter(hasAgent);
}

/** Keeps the sidecars, but those that only wait to end. */
export function keepSidecars(run: Run, reason: string): void {
  run.log.info({ reason }, "kept the sidecars running");
  if (run.settings.quitOn === "always")
    run.endsAfter.push(runOrLogBug(() => quitLeaving(run, true), run.log, "an agent could not be ended"));
}

/**
 * After a stop signal, ends what only waits to end, unless an app of another container still needs it. `isKept`: nothing
 * else asks it to exit.
 */
async function quitLeaving({ isToEnd, since, agents = [], log }: Run, isKept: boolean): Promise<void> {
  if (!isToEnd || agents.length === 0 || runsBeside()) return;
  const { endLeaving, TOGETHER_MS } = await import("../quit/leaving.ts"); // few runs need it
  await endLeaving(agents, isKept && since.drained === undefined ? TOGETHER_MS : 0, log);
}

/** Tells the sidecars to quit. */
export async function quit(run: Run): Promise<void> {
  run.since.quit = performance.now();
  // thrice: to find them, to send the quits with +, and to send the others
  await withTimeLimit(quitSidecars(run), 3 * run.settings.quitTimeout);
}

/** So long after ebb's own start a sidecar may be late of which nothing has answered. */
const LATE_MS = 5000;

function knownOf({ isReady, alive, wait }: Run, name: Sidecar["name"]): SidecarState {
  if (isReady || alive.has(name)) return "up";
  return wait?.hasHeard(name) === true ? "unknown" : "silent";
}

async function quitSidecars(run: Run): Promise<void> {
  await quitLeaving(run, false);
  const { settings, log } = run;
  const end = performance.now() + settings.quitTimeout;
  const sidecars = await currentSidecars(run, "quit");
  const options = {
    timeoutMs: leftUntil(end),
    headers: settings.header,
    known: (name: Sidecar["name"]) => knownOf(run, name),
    lateUntil: run.since.wait + LATE_MS,
    mayReturn: !run.isToEnd && settings.restartPolicy !== "Never",
  };
  for (const report of await quitAll(sidecars, options))
    logQuit(log, report.error === undefined ? "warn" : "error", report);
}

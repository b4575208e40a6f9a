import type { Settings } from "../../core/cli/options.ts";
import type { ShutdownPlan } from "../../core/run/shutdown-budget.ts";
import { isToRestart } from "../../core/sidecars/former-drain.ts";
import { ENVOY_DRAINING } from "../../core/sidecars/probe.ts";
import { kindOf } from "../../core/sidecars/registry.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { runOrLogBug, withTimeLimit } from "../process/unexpected.ts";
import { logQuit, quitAll } from "../sidecars/quit.ts";
import { leftUntil } from "../timer.ts";
import { knownSidecars, type SidecarContext } from "./sidecars.ts";

/** The part of a run that draining needs. */
export interface Draining extends SidecarContext {
  readonly settings: SidecarContext["settings"] &
    Settings<"restartPolicy" | "quitOn" | "header" | "minDrain" | "maxInFlight">;
  readonly shutdown: ShutdownPlan;
  /** Whether the sidecars have been up. */
  readonly isReady: boolean;
  /** Ends the drain early if it is aborted. */
  readonly cutDrain: AbortController;
  readonly stopWaiting: AbortController;
  /** The sidecars that were told to quit because a former container had drained them: once is enough. */
  readonly restarted: Set<Sidecar["name"]>;
  /** Never rejects. Resolves when it is logged how undoing a former container's drain went. Set here. */
  undoing?: Promise<unknown>;
}

/** Drains the sidecars, before the child is stopped, within `shutdown.drainMs`. Logs the outcome. */
export async function drainSidecars(run: Draining): Promise<void> {
  await withTimeLimit(drainKnown(run), run.shutdown.drainMs);
}

async function drainKnown(run: Draining): Promise<void> {
  const { settings, shutdown, log, cutDrain } = run;
  const end = performance.now() + shutdown.drainMs;
  const sidecars = await knownSidecars(run, "drain", shutdown.drainMs);
  const { drainAll } = await import("../envoy/drain.ts"); // few starts need it
  log.info({ atMostMs: shutdown.drainMs }, "draining before stopping the command");
  await drainAll(sidecars, {
    totalMs: shutdown.drainMs,
    boundMs: leftUntil(end),
    minMs: settings.minDrain,
    maxInFlight: settings.maxInFlight,
    wereReady: run.isReady,
    log,
    signal: cutDrain.signal,
  });
}

/** The time that an answer of Envoy's may take: ebb does not end before it. */
const UNDO_MS = 2000;

/**
 * Starts to undo the drain of a former container of this pod, if the sidecar is not ready for a `reason` that says
 * that it drains. Does nothing if no container before this one can have drained it.
 */
export function undoDrain(run: Draining, sidecar: Sidecar, reason: string): void {
  if (mayHaveDrained(run) && reason.includes(ENVOY_DRAINING)) startUndo(run, sidecar, false);
}

/** Starts to undo the drains of a former container at sidecars whose readiness does not tell that they drain. */
export function undoUnseenDrains(run: Draining): void {
  if (!mayHaveDrained(run)) return;
  for (const sidecar of run.wait?.here()?.sidecars ?? []) if (isUnseen(sidecar)) startUndo(run, sidecar, true);
}

function isUnseen({ name }: Sidecar): boolean {
  return name !== "custom" && kindOf(name).staysReady === true;
}

/** The time that an Envoy has to say whether it drains, before the command starts: on loopback it answers at once. */
const LOOK_MS = 250;

/**
 * Restarts the sidecars whose readiness does not tell that they drain, if a former container has drained them and the
 * kubelet restarts them. Resolves with whether it has restarted one: then they are to be waited for again.
 */
export async function restartUnseen(run: Draining): Promise<boolean> {
  const mayBe = (sidecar: Sidecar) => isUnseen(sidecar) && isToRestart(sidecar, run.settings);
  if (run.wait?.here()?.sidecars.some(mayBe) !== true) return false;
  const { isDraining } = await import("../envoy/undo-drain.ts");
  let hasRestarted = false;
  for (const sidecar of await knownSidecars(run, "drain")) {
    if (!mayBe(sidecar) || (await Promise.race([isDraining(sidecar), Bun.sleep(LOOK_MS)])) !== true) continue;
    hasRestarted = (await restart(run, sidecar)) || hasRestarted;
  }
  return hasRestarted;
}

/**
 * Reports whether a container before this one, of the same pod, may have drained: by itself, or by its preStop hook,
 * which a failed liveness probe runs too.
 */
function mayHaveDrained({ shutdown, settings }: Draining): boolean {
  return shutdown.drainMs > 0 || (settings.restartPolicy ?? "Never") !== "Never";
}

function startUndo(run: Draining, noticed: Sidecar, hasStarted: boolean): void {
  const isRestart = !hasStarted && isToRestart(noticed, run.settings);
  const act = async (): Promise<void> => {
    const { isDraining, undoDrain: undo } = await import("../envoy/undo-drain.ts");
    for (const sidecar of await knownSidecars(run, "drain")) {
      if (sidecar.name !== noticed.name || (hasStarted && !(await isDraining(sidecar)))) continue;
      if (isRestart) await restart(run, sidecar);
      else await undo(sidecar, run.log);
    }
  };
  // a restart: to drain, and twice for the quits
  const limitMs = UNDO_MS + (isRestart ? 3 * run.settings.quitTimeout : 0);
  const undone = withTimeLimit(runOrLogBug(act, run.log, "the drain could not be taken back"), limitMs);
  run.undoing = Promise.all([run.undoing, undone]);
}

/**
 * Tells a drained sidecar to quit, once nothing of the pod's other containers is in flight or `--quit-timeout` is over.
 * If it does not, undoes what can be undone. Resolves with whether it has.
 */
async function restart({ settings, log, stopWaiting, restarted }: Draining, sidecar: Sidecar): Promise<boolean> {
  if (restarted.has(sidecar.name)) return false;
  restarted.add(sidecar.name);
  const { quitTimeout: timeoutMs, maxInFlight, header: headers } = settings;
  log.warn({ sidecar: sidecar.name }, "Envoy still drains: telling it to quit, so that the kubelet restarts it");
  const { drainAll } = await import("../envoy/drain.ts");
  const { signal } = stopWaiting;
  const limits = { totalMs: timeoutMs, boundMs: timeoutMs, minMs: 0 };
  await drainAll([sidecar], { ...limits, maxInFlight, wereReady: true, log, signal });
  if (signal.aborted) return false;
  const quits = sidecar.quits.filter(({ isAdditional }) => isAdditional !== true);
  const reports = await quitAll([{ ...sidecar, quits }], { timeoutMs, headers, wereReady: true });
  for (const report of reports) logQuit(log, "warn", report);
  if (reports.every(({ ok }) => ok)) return true;
  const { undoDrain: undo } = await import("../envoy/undo-drain.ts");
  await undo(sidecar, log);
  return false;
}

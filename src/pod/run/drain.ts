import type { Settings } from "../../shared/cli/core/options.ts";
import type { ShutdownPlan } from "../../shared/core/shutdown-budget.ts";
import { leftUntil } from "../../shared/io/timer.ts";
import { ENVOY_DRAINING } from "../../shared/sidecars/core/probe.ts";
import { kindOf } from "../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { runOrLogBug, withTimeLimit } from "../bug.ts";
import { logQuit, quitAll } from "../quit/quit.ts";
import { isToRestart } from "./core/former-drain.ts";
import { currentSidecars, type SidecarContext } from "./sidecars.ts";

/** The times of a stop: what of the options fits. */
export interface FittingShutdown extends ShutdownPlan {
  /** `--min-drain`, shortened to the drain. */
  readonly minMs: number;
}

/** The part of a run that draining needs. */
interface Draining extends SidecarContext {
  readonly settings: SidecarContext["settings"] & Settings<"restartPolicy" | "quitOn" | "header" | "maxInFlight">;
  readonly shutdown: FittingShutdown;
  /** Whether the sidecars have been up. */
  readonly isReady: boolean;
  /** Ends the drain early if it is aborted. */
  readonly cutDrain: AbortController;
  readonly stopWaiting: AbortController;
  /** The sidecars that were told to quit because a former container had drained them: once is enough. */
  readonly restarted: Set<Sidecar["name"]>;
  /** The sidecars that a drain has seen alive. */
  readonly alive: Set<Sidecar["name"]>;
  /** ebb ends after these: undoing the drain of a former container is one. */
  readonly endsAfter: Promise<unknown>[];
}

/** Drains the sidecars, before the child is stopped, within `shutdown.drainMs`. Logs the outcome. */
export async function drainSidecars(run: Draining): Promise<void> {
  await withTimeLimit(drainCurrent(run), run.shutdown.drainMs);
}

async function drainCurrent(run: Draining): Promise<void> {
  const { settings, shutdown, log, cutDrain } = run;
  const end = performance.now() + shutdown.drainMs;
  const sidecars = await currentSidecars(run, "drain", shutdown.drainMs);
  const { drainAll } = await import("../envoy/drain.ts"); // few starts need it
  await drainAll(sidecars, {
    drainMs: shutdown.drainMs,
    boundMs: leftUntil(end),
    minMs: shutdown.minMs,
    maxInFlight: settings.maxInFlight,
    wereReady: run.isReady,
    onAnswer: (name) => run.alive.add(name),
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
export function undoFormerDrain(run: Draining, noticed: Sidecar, reason: string): void {
  if (!mayHaveDrained(run) || !reason.includes(ENVOY_DRAINING)) return;
  const act = async (): Promise<void> => {
    for (const sidecar of await currentSidecars(run, "drain")) {
      if (sidecar.name !== noticed.name) continue;
      if (isToRestart(sidecar, run.settings)) await restart(run, sidecar);
      else await undo(run, sidecar);
    }
  };
  // a restart: to drain, and twice for the quits
  const limitMs = UNDO_MS + (isToRestart(noticed, run.settings) ? 3 * run.settings.quitTimeout : 0);
  run.endsAfter.push(withTimeLimit(runOrLogBug(act, run.log, "the drain could not be taken back"), limitMs));
}

/**
 * Undoes the drains of a former container at sidecars whose readiness does not tell that they drain. Resolves with
 * whether it has restarted one: then they are to be waited for, and looked at, again.
 */
export async function undoHiddenDrains(run: Draining): Promise<boolean> {
  const hidesDrain = ({ name, envoy }: Sidecar) =>
    envoy !== undefined && name !== "custom" && kindOf(name).staysReady === true;
  if (!mayHaveDrained(run) || run.wait?.here()?.sidecars.some(hidesDrain) !== true) return false;
  const { isDraining } = await import("../envoy/undo-drain.ts");
  let hasRestarted = false;
  for (const sidecar of await currentSidecars(run, "drain")) {
    if (!hidesDrain(sidecar) || !(await isDraining(sidecar))) continue;
    const isOnce = isToRestart(sidecar, run.settings) && !run.restarted.has(sidecar.name);
    if (isOnce && (await restart(run, sidecar))) hasRestarted = true;
    else if (!isOnce) await undo(run, sidecar);
  }
  return hasRestarted;
}

async function undo({ log }: Draining, sidecar: Sidecar): Promise<void> {
  const { undoDrain } = await import("../envoy/undo-drain.ts");
  await undoDrain(sidecar, log);
}

/**
 * Reports whether a container before this one, of the same pod, may have drained: by itself, or by its preStop hook,
 * which a failed liveness probe runs too.
 */
function mayHaveDrained({ shutdown, settings }: Draining): boolean {
  return shutdown.drainMs > 0 || (settings.restartPolicy ?? "Never") !== "Never";
}

/**
 * Tells a drained sidecar to quit, once nothing of the pod's other containers is in flight or `--quit-timeout` is over.
 * If it does not, undoes what can be undone. Resolves with whether it has.
 */
async function restart(run: Draining, sidecar: Sidecar): Promise<boolean> {
  const { settings, log, stopWaiting, restarted } = run;
  if (restarted.has(sidecar.name)) return false;
  restarted.add(sidecar.name);
  const { quitTimeout: timeoutMs, maxInFlight, header: headers } = settings;
  log.warn({ sidecar: sidecar.name }, "Envoy still drains: asking it to exit, so that the kubelet restarts it");
  const { drainAll } = await import("../envoy/drain.ts");
  const { signal } = stopWaiting;
  const limits = { drainMs: timeoutMs, boundMs: timeoutMs, minMs: 0 };
  await drainAll([sidecar], { ...limits, maxInFlight, wereReady: true, log, signal });
  if (signal.aborted) return false;
  const quits = sidecar.quits.filter(({ isAdditional }) => isAdditional !== true);
  const reports = await quitAll([{ ...sidecar, quits }], { timeoutMs, headers, known: () => "up" });
  for (const report of reports) logQuit(log, "warn", report);
  if (reports.every(({ ok }) => ok)) return true;
  await undo(run, sidecar);
  return false;
}

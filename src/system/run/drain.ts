import type { Settings } from "../../core/cli/options.ts";
import type { ShutdownPlan } from "../../core/run/shutdown-budget.ts";
import { ENVOY_DRAINING } from "../../core/sidecars/probe.ts";
import { kindOf } from "../../core/sidecars/registry.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { runOrLogBug, withTimeLimit } from "../process/unexpected.ts";
import { leftUntil } from "../timer.ts";
import { knownSidecars, type SidecarContext } from "./sidecars.ts";

/** The part of a run that draining needs. */
export interface Draining extends SidecarContext {
  readonly settings: SidecarContext["settings"] & Settings<"restartPolicy" | "minDrain" | "maxInFlight">;
  readonly shutdown: ShutdownPlan;
  /** Whether the sidecars have been up. */
  readonly isReady: boolean;
  /** Ends the drain early if it is aborted. */
  readonly cutDrain: AbortController;
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
  if (mayHaveDrained(run) && reason.includes(ENVOY_DRAINING)) startUndo(run, sidecar, "undoDrain");
}

/** Starts to undo the drains of a former container at sidecars whose readiness does not tell that they drain. */
export function undoUnseenDrains(run: Draining): void {
  if (!mayHaveDrained(run)) return;
  for (const sidecar of run.wait?.here()?.sidecars ?? []) {
    const isUnseen = sidecar.name !== "custom" && kindOf(sidecar.name).staysReady === true;
    if (isUnseen) startUndo(run, sidecar, "undoIfDraining");
  }
}

/**
 * Reports whether a container before this one, of the same pod, may have drained: by itself, or by its preStop hook,
 * which a failed liveness probe runs too.
 */
function mayHaveDrained({ shutdown, settings }: Draining): boolean {
  return shutdown.drainMs > 0 || (settings.restartPolicy ?? "Never") !== "Never";
}

function startUndo(run: Draining, { name }: Sidecar, how: "undoDrain" | "undoIfDraining"): void {
  const act = async (): Promise<void> => {
    const { [how]: undo } = await import("../envoy/drain.ts");
    const proved = await knownSidecars(run, "drain");
    for (const sidecar of proved) if (sidecar.name === name) await undo(sidecar, run.log);
  };
  const undone = withTimeLimit(runOrLogBug(act, run.log, "the drain could not be taken back"), UNDO_MS);
  run.undoing = Promise.all([run.undoing, undone]);
}

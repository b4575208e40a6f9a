import { SIG, signalName } from "../../core/run/signal.ts";
import { type Change, type Child, reapChildren } from "../process/child.ts";
import { stopWith, takeTerminalBack } from "../process/job-control.ts";
import { collectAfterManyWakeUps } from "../process/memory.ts";
import type { Signals } from "../process/signals.ts";
import type { Run } from "./run.ts";

/**
 * Turns signals and the child's end into events in the run's queue, from now on. Reaps all children; stops ebb when the
 * child stops.
 */
export function listen(run: Run, signals: Signals): void {
  signals.subscribe((signal, { wasIgnored, isEarly }) => {
    if (signal === SIG.CONT && run.child !== undefined) run.child.isToStop = false; // even before its stop is read
    run.queue.push({ kind: "signal", signal, wasIgnored, isEarly });
    run.log.debug({ signal: signalName(signal) }, "received a signal");
  });
  signals.onChildChange(() => {
    collectAfterManyWakeUps();
    reapChildren((pid, change) => {
      if (pid === run.child?.pid) onChildChange(run, run.child, change);
    });
  });
}

function onChildChange(run: Run, child: Child, change: Change): void {
  if ("stop" in change) return stopWith(child, change.stop);
  run.exit = change.exit;
  run.queue.push({ kind: "reaped", pid: child.pid, exit: change.exit });
  takeTerminalBack(child); // before the loop takes the event
}

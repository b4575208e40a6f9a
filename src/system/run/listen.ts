import { SIG, signalName } from "../../core/run/signal.ts";
import { type Change, type Child, reapChildren } from "../process/child.ts";
import { stopWith, takeTerminalBack } from "../process/job-control.ts";
import { collectAfterManyWakeUps } from "../process/memory.ts";
import type { Signals } from "../process/signals.ts";
import type { Run } from "./run.ts";

/** Turns signals and what becomes of children into events of the run. */
export function listen(run: Run, signals: Signals): void {
  signals.subscribe((signal, { wasIgnored, isEarly }) => {
    if (signal === SIG.CONT && run.child !== undefined) run.child.isToStop = false; // also where its stop is still to be read
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
  takeTerminalBack(child); // before the loop hears of it
}

import { endsCommand, type SignalNumber } from "../../core/run/signal.ts";
import { exit } from "../native/exit.ts";
import type { Signals } from "./signals.ts";

/** Calls `stop` at each signal that asks a command without an app to stop. */
export function onStop(signals: Signals, stop: (signal: SignalNumber) => void): void {
  signals.subscribe((signal) => {
    if (endsCommand(signal)) stop(signal);
  });
}

/** Ends ebb with 128+n at a stop signal, unless the command subscribes to signals itself. */
export function exitOnStop(signals: Signals): void {
  signals.subscribeLast((signal) => {
    if (endsCommand(signal)) exit(128 + signal);
  });
}

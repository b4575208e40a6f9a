import { endsCommand, type SignalNumber } from "../core/signal.ts";
import { exit } from "../native/exit.ts";
import type { Signals } from "./signals.ts";

/**
 * Becomes the reader of `signals`: calls `stop` at each one that asks a command without an app to stop, and drops all
 * others.
 */
export function onStop(signals: Signals, stop: (signal: SignalNumber) => void): void {
  signals.subscribe((signal) => {
    if (endsCommand(signal)) stop(signal);
  });
}

/** Ends ebb with exit code 128+n at stop signal n, unless the command reads signals itself, now or later. */
export function exitOnStop(signals: Signals): void {
  signals.subscribeIfNone((signal) => {
    if (endsCommand(signal)) exit(128 + signal);
  });
}

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

/** The first stop signal of a command. */
interface Stop {
  /** Is aborted when it comes. */
  readonly signal: AbortSignal;
  /** Resolves with its number. */
  readonly came: Promise<number>;
}

/** Becomes the reader of `signals`, as `onStop` does. */
export function stopOf(signals: Signals): Stop {
  const controller = new AbortController();
  const { promise: came, resolve } = Promise.withResolvers<number>();
  onStop(signals, (signal) => {
    resolve(signal);
    controller.abort();
  });
  return { signal: controller.signal, came };
}

/** Ends ebb with exit code 128+n at stop signal n, unless the command reads signals itself, now or later. */
export function exitOnStop(signals: Signals): void {
  signals.subscribeIfNone((signal) => {
    if (endsCommand(signal)) exit(128 + signal);
  });
}

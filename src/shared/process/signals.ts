import { endsWait, forwarded, type SignalNumber, signalName } from "../core/signal.ts";
import { native } from "../native/native.ts";
import type { Log } from "../output/log.ts";

/** How a signal arrived. */
interface Arrival {
  /**
   * Whether ebb was started with it ignored, as by nohup. Such a signal is read only once there is a child, and is for
   * the child alone.
   */
  readonly wasIgnored: boolean;
  /** Whether it came before the child was there, which would die of it: the child does not start with it blocked. */
  readonly isEarly: boolean;
}

/** Gets each signal that ebb has caught, in order. */
export type SignalReader = (signal: SignalNumber, arrival: Arrival) => void;

/** Flags of `native.nextSignal`, as native.h has them. */
const WAS_IGNORED = 0x100;
const IS_EARLY = 0x200;

/** The signals that ebb catches, for one reader. */
export interface Signals {
  /** Makes `reader` the only reader. Calls it at once with each signal that was kept, then with each as it comes. */
  subscribe(reader: SignalReader): void;
  /** Subscribes as `subscribe` does, unless there is a reader already. */
  subscribeIfNone(reader: SignalReader): void;
  /** Makes `reap` the one function that is called whenever a child may have ended or stopped. */
  onChildChange(reap: () => void): void;
}

/**
 * Starts to catch every signal that can be forwarded, for as long as ebb runs. Keeps signals until there is a reader,
 * so that none is lost, not even as PID 1.
 */
export function catchSignals(): Signals {
  let subscriber: SignalReader | undefined;
  let reap = (): void => undefined;
  const readRing = (): void => {
    while (subscriber !== undefined) {
      const noted = native.nextSignal();
      if (noted === 0) return;
      subscriber(noted & 0xff, { wasIgnored: (noted & WAS_IGNORED) !== 0, isEarly: (noted & IS_EARLY) !== 0 });
    }
  };
  process.on("SIGCHLD", () => {
    readRing();
    reap();
  });
  native.listen();
  const subscribe = (reader: SignalReader): void => {
    subscriber = reader;
    readRing();
  };
  return {
    subscribe,
    subscribeIfNone(reader) {
      if (subscriber === undefined) subscribe(reader);
    },
    onChildChange(call) {
      reap = call;
    },
  };
}

/**
 * Blocks every signal until `exec`, so that none is caught and lost in between. One that ends a wait (`endsWait`) ends
 * ebb if it comes nevertheless.
 */
export function holdSignals(): void {
  native.holdSignals(forwarded.filter(endsWait).reduce((mask, signal) => mask | (1 << (signal - 1)), 0));
}

/** Sends a signal to ebb itself. A blocked signal stays pending across exec, for the program that ebb becomes. */
export function raise(signal: SignalNumber): void {
  native.kill(process.pid, signal);
}

/** Creates a reader that drops signals because there is no child yet, and logs each number once, at info. */
export function createDropper(log: Log): (signal: SignalNumber) => void {
  const logged: SignalNumber[] = [];
  return (signal) => {
    if (logged.includes(signal)) return;
    logged.push(signal);
    log.info({ signal: signalName(signal) }, "dropped a signal: the command has not started yet");
  };
}

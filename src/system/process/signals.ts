import { type SignalNumber, signalName } from "../../core/run/signal.ts";
import { native } from "../native/native.ts";
import type { Log } from "../output/log.ts";

/** What there is to say of a signal besides its number. */
export interface Arrival {
  /** ebb was started with it ignored, as by nohup; it comes once there is a child, and is only its own. */
  readonly wasIgnored: boolean;
  /** It came before the child, which does not start with it blocked. */
  readonly isEarly: boolean;
}

export type Reader = (signal: SignalNumber, arrival: Arrival) => void;

/** As native.h has them. */
const WAS_IGNORED = 0x100;
const IS_EARLY = 0x200;

export interface Signals {
  /** The one reader: gets what came so far, then each signal as it comes. A later reader replaces it. */
  subscribe(reader: Reader): void;
  /** As `subscribe`, unless there is a reader. */
  subscribeLast(reader: Reader): void;
  /** Calls `reap` whenever a child may have ended or stopped. */
  onChildChange(reap: () => void): void;
}

/**
 * Starts to catch every signal that can be forwarded. Signals are kept until somebody subscribes: none is lost, not even as PID 1.
 */
export function catchSignals(): Signals {
  let read: Reader | undefined;
  let reap = (): void => undefined;
  const drain = (): void => {
    while (read !== undefined) {
      const noted = native.nextSignal();
      if (noted === 0) return;
      read(noted & 0xff, { wasIgnored: (noted & WAS_IGNORED) !== 0, isEarly: (noted & IS_EARLY) !== 0 });
    }
  };
  process.on("SIGCHLD", () => {
    drain();
    reap();
  });
  native.listen();
  const subscribe = (reader: Reader): void => {
    read = reader;
    drain();
  };
  return {
    subscribe,
    subscribeLast(reader) {
      if (read === undefined) subscribe(reader);
    },
    onChildChange(call) {
      reap = call;
    },
  };
}

/** Blocks every signal, so that none is caught and lost between here and exec. */
export function holdSignals(): void {
  native.holdSignals();
}

/** Sends a signal to ebb itself. One that is blocked stays pending across exec, for the program that ebb becomes. */
export function raise(signal: SignalNumber): void {
  native.kill(process.pid, signal);
}

/** Returns a reader of signals that drops them, and logs each signal once. */
export function createDropper(log: Log): (signal: SignalNumber) => void {
  const said: SignalNumber[] = [];
  return (signal) => {
    if (said.includes(signal)) return;
    said.push(signal);
    log.info({ signal: signalName(signal) }, "dropped a signal: the command has not started yet");
  };
}

import type { SignalNumber } from "../core/signal.ts";
import { native } from "./native.ts";

/** `wasIgnored`: ebb was started with this signal ignored, as by nohup; it comes once there is a child, and is only its own. */
type Reader = (signal: SignalNumber, wasIgnored: boolean) => void;

export interface Signals {
  /** The one reader: gets what came so far, then each signal as it comes. A later reader replaces it. */
  subscribe(reader: Reader): void;
  /** As `subscribe`, unless there is a reader. */
  subscribeLast(reader: Reader): void;
  /** Calls `reap` whenever a child may have ended or stopped. */
  onChildChange(reap: () => void): void;
}

/** Listens for every signal that can be forwarded. What comes before somebody reads is kept: none is lost, not even as PID 1. */
export function listen(): Signals {
  let read: Reader | undefined;
  let reap = (): void => undefined;
  const drain = (): void => {
    while (read !== undefined) {
      const signal = native.nextSignal();
      if (signal === 0) return;
      read(Math.abs(signal), signal < 0);
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

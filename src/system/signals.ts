import { forwarded, SIG, type SignalNumber, signalName } from "../core/signal.ts";
import { type Inherited, isIgnored } from "./inherited.ts";
import { libc, ptr, signalSet } from "./libc.ts";

const SIG_SETMASK = 2;
const SIG_DFL = 0;
const SIG_IGN = 1;

export interface Signals {
  /** The one reader: gets what came so far, then each signal as it comes. A later reader replaces it. */
  subscribe(reader: (signal: SignalNumber) => void): void;
}

/**
 * Listens for every signal that can be forwarded, but for those that were ignored at the start, and only then lets those
 * through that build/before-bun.c has held: none is lost, not even as PID 1.
 */
export function listen(inherited: Inherited | undefined): Signals {
  const pending: SignalNumber[] = [];
  let deliver = (signal: SignalNumber): void => {
    pending.push(signal);
  };
  for (const signal of forwarded) {
    if (!isIgnored(inherited, signal)) process.on(signalName(signal), () => deliver(signal));
  }
  setMask(0n);
  return {
    subscribe(reader) {
      deliver = reader;
      for (const signal of pending.splice(0)) reader(signal);
    },
  };
}

/** Calls `reap` whenever a child may have ended. */
export function onChildEnd(reap: () => void): void {
  process.on("SIGCHLD", reap);
}

/** Writing to a terminal from the background must not stop ebb: the child has the foreground. */
export function ignoreTerminalStops(): void {
  libc.signal(SIG.TTOU, SIG_IGN);
  libc.signal(SIG.TTIN, SIG_IGN);
}

/** Gives an exec the dispositions and the mask that ebb was started with: exec resets handlers, but keeps what is ignored. */
export function restoreSignals(inherited: Inherited | undefined): void {
  for (const signal of [SIG.PIPE, SIG.XFSZ]) {
    if (!isIgnored(inherited, signal)) libc.signal(signal, SIG_DFL);
  }
  setMask(inherited?.blocked ?? 0n);
}

/** Blocks every signal, so that none is caught and lost between here and exec. */
export function holdSignals(): void {
  setMask(~0n);
}

function setMask(blocked: bigint): void {
  libc.sigprocmask(SIG_SETMASK, ptr(signalSet(BigInt.asUintN(64, blocked))), null);
}

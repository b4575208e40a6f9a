import { SIG, type SignalNumber } from "../../core/run/signal.ts";
import { native } from "../native/native.ts";
import { type Child, kill } from "./child.ts";

// Without a terminal a stop signal that ebb has passed on stops ebb, too, once it has stopped the child (as dumb-init does).
// At a terminal ebb and its child are one job to the shell: they stop and go on together, and where the shell gives the
// terminal to ebb, the child has it. ebb ignores SIGTTOU, so that nothing here stops it in the background.

/** Takes the terminal back from a child that has ended or stopped. A child in the background has none. */
export function takeTerminalBack(child: Child): void {
  if (!child.hasTerminal) return;
  native.setForegroundGroup(child.terminal, ownGroup());
  child.hasTerminal = false;
}

/** Stops ebb too when its child has stopped (Ctrl-Z, or a read from the background), until the shell continues it. */
export function stopWith(child: Child, signal: SignalNumber): void {
  if (child.terminal < 0) return child.isToStop ? native.suspend() : undefined; // its SIGCONT comes as each signal does
  if (child.sharesGroup) return void kill(process.pid, SIG.STOP);
  if (child.hasTerminal) takeTerminalBack(child);
  else if (signal === SIG.STOP) return;
  else if (foreground(child) === ownGroup()) return resumeChild(child);
  const isContinued = native.stop() !== 0; // its SIGCONT comes as each signal does, and calls resumeChild
  if (!isContinued && signal === SIG.TSTP) resumeChild(child);
}

/** Continues the child after SIGCONT, with the terminal where the shell has given that to ebb. */
export function resumeChild(child: Child): void {
  if (foreground(child) === ownGroup()) {
    native.setForegroundGroup(child.terminal, child.pid);
    child.hasTerminal = true;
  } else if (foreground(child) === native.groupOf(process.ppid)) {
    child.hasTerminal = false;
  }
  kill(-child.pid, SIG.CONT);
}

function foreground({ terminal }: Child): number {
  return native.foregroundGroup(terminal);
}

function ownGroup(): number {
  return native.groupOf(0);
}

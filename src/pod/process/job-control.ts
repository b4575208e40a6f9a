import { SIG, type SignalNumber } from "../../shared/core/signal.ts";
import { native } from "../../shared/native/native.ts";
import { kill } from "../../shared/process/kill.ts";
import type { Child } from "./child.ts";

// Without a terminal a stop signal that ebb has passed on stops ebb, too, once it has stopped the child (as dumb-init
// does). At a terminal ebb and its child are one job to the shell: they stop and go on together, and when the shell
// gives the terminal to ebb, ebb gives it to the child. ebb ignores SIGTTOU, so that nothing here stops it in the
// background.

/**
 * Makes ebb's group the terminal's foreground group again. Does nothing unless `child.hasTerminal`, which it then
 * clears.
 */
export function takeTerminalBack(child: Child): void {
  if (!child.hasTerminal) return;
  native.setForegroundGroup(child.terminal, ownGroup());
  child.hasTerminal = false;
}

/**
 * Stops ebb too after `signal` has stopped its child (Ctrl-Z, or a read in the background), so that the shell sees one
 * stopped job. Returns once ebb is continued, or at once if it need not stop: if no shell would continue it, or if ebb
 * is in the foreground and can continue the child itself, also because the first process of the pipeline took the terminal
 * back for their group (bash 5.2, jobs.c, make_child). Without a terminal ebb stops only if it has passed the stop signal
 * on.
 */
export function stopWith(child: Child, signal: SignalNumber): void {
  if (child.terminal < 0) return child.isToStop ? native.suspend() : undefined; // SIGCONT is then read as any signal is
  if (child.sharesGroup) return void kill(process.pid, SIG.STOP);
  const wantsTerminal = signal === SIG.TTIN || signal === SIG.TTOU;
  if (wantsTerminal && foreground(child) === ownGroup()) return resumeChild(child);
  if (child.hasTerminal) takeTerminalBack(child);
  else if (signal === SIG.STOP) return;
  else if (foreground(child) === ownGroup()) return resumeChild(child);
  const isContinued = native.stop() !== 0; // SIGCONT is then read as any signal is, and calls resumeChild
  if (!isContinued && signal === SIG.TSTP) resumeChild(child);
}

/**
 * Continues the child's process group after ebb got SIGCONT. Gives it the terminal first if the shell has given that to
 * ebb, and sets `child.hasTerminal`; clears that if the shell itself is in the foreground.
 */
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

import { SIG } from "../../shared/core/signal.ts";
import { ERRNO } from "../../shared/native/errno.ts";
import { native } from "../../shared/native/native.ts";
import type { Log } from "../../shared/output/log.ts";
import { kill } from "../../shared/process/kill.ts";
import { type Child, sendSignal } from "./child.ts";

/** The part of a run that ends what a command leaves behind. */
interface GroupEnd {
  readonly log: Log;
  /** The milliseconds that it has to end. */
  readonly graceMs?: number;
}

/**
 * Sends SIGTERM to the processes that the command has left in its group, as dumb-init does. If `isWatched`, continues
 * them too, so that they can end. Otherwise the kernel does, when the group has lost its parent (setpgid(2)).
 */
export function endGroup(log: Log, { pid }: Child, isWatched: boolean): void {
  sendSignal(log, -pid, SIG.TERM);
  if (isWatched) sendSignal(log, -pid, SIG.CONT);
}

/** The period of looks at a group that is about to end: its number may be another group's soon after. */
const GROUP_PERIOD_MS = 10;

/**
 * Calls `onGone` once the command's process group has no member: at once, or later, after it has logged that some are
 * left.
 */
export function watchGroup({ log, graceMs }: GroupEnd, { pid: group }: Child, onGone: () => void): void {
  if (!hasGroup(group)) return onGone();
  log.info({ group, graceMs }, "the command exited and left processes behind in its group");
  const timer = setInterval(() => {
    if (hasGroup(group)) return;
    clearInterval(timer);
    onGone();
  }, GROUP_PERIOD_MS);
}

/**
 * Sends SIGKILL to all that is left of the command: its group, and every process if ebb is PID 1, else all descendants.
 * Logs a warning, also if the system refuses.
 */
export async function killAll({ log, graceMs }: GroupEnd, { pid, others }: Child): Promise<void> {
  const ofGroup = hasGroup(pid) ? kill(-pid, SIG.KILL) : undefined;
  const ofAll = process.pid === 1 ? kill(-1, SIG.KILL) : undefined;
  const problem = ofGroup ?? ofAll;
  if (problem === undefined) log.warn({ graceMs }, "grace period over: sent SIGKILL to what is left of the command");
  else log.warn({ graceMs, problem }, "grace period over: cannot send SIGKILL to what is left of the command");
  if (process.pid === 1) return;
  const { killDescendants } = await import("./end-processes.ts");
  await killDescendants(others, log);
}

/** Reports whether a process group has any member. Processes that have ended but are not reaped count. */
function hasGroup(group: number): boolean {
  return native.kill(-group, 0) !== -ERRNO.ESRCH;
}

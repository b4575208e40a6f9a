import { parseStat } from "../../core/run/process.ts";
import { SIG } from "../../core/run/signal.ts";
import { readIfThere } from "../file.ts";
import type { Log } from "../output/log.ts";
import { kill, ownChildren } from "./child.ts";
import { allPids } from "./pids.ts";

/** What is in an uninterruptible sleep, or may not be signalled, holds nothing up. */
const LIMIT_MS = 1000;

/**
 * Sends SIGKILL to all descendants of the command, where ebb is a subreaper; children in `others` are not killed. Takes at most a
 * second: logs a warning with the PIDs that are left.
 *
 * It kills ebb's own children, generation by generation: the children of a killed process become ebb's. Only ebb reaps its children, so no
 * PID can be another process's meanwhile.
 */
export async function killDescendants(others: readonly number[], log: Log): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const pids = (ownChildren() ?? searchChildren()).filter((pid) => !others.includes(pid));
    if (pids.length === 0) return;
    const problems = new Set(pids.map((pid) => kill(pid, SIG.KILL)).filter(Boolean));
    if (performance.now() > end)
      return log.warn({ pids, problems: [...problems] }, "processes still run after SIGKILL");
    await Bun.sleep(1); // those that end are reaped meanwhile
  }
}

function searchChildren(): readonly number[] {
  return allPids().filter((pid) => parseStat(readIfThere(`/proc/${pid}/stat`) ?? "")?.parent === process.pid);
}

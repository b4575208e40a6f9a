import { parseStat } from "../../core/run/process.ts";
import { SIG } from "../../core/run/signal.ts";
import { readIfThere } from "../file.ts";
import type { Log } from "../output/log.ts";
import { kill, ownChildren } from "./child.ts";
import { allPids } from "./pids.ts";

/** Processes in an uninterruptible sleep, or that ebb may not signal, hold the end up for no longer. */
const LIMIT_MS = 1000;

/**
 * Sends SIGKILL to ebb's children until none is left, except to those in `others`. ebb must be a subreaper: it then
 * adopts the children of a killed process, so that all descendants are killed, generation by generation. Gives up after
 * 1 s (`LIMIT_MS`) and logs a warning with the PIDs that are left. Something else must reap meanwhile (`reapChildren`).
 */
export async function killDescendants(others: readonly number[], log: Log): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const pids = (ownChildren() ?? searchChildren()).filter((pid) => !others.includes(pid));
    if (pids.length === 0) return;
    // only ebb reaps its children, so no PID can be another process's meanwhile
    const problems = new Set(pids.map((pid) => kill(pid, SIG.KILL)).filter(Boolean));
    if (performance.now() > end)
      return log.warn({ pids, problems: [...problems] }, "processes still run after SIGKILL");
    await Bun.sleep(1); // those that end are reaped meanwhile
  }
}

function searchChildren(): readonly number[] {
  return allPids().filter((pid) => parseStat(readIfThere(`/proc/${pid}/stat`) ?? "")?.parent === process.pid);
}

import { SIG, signalName } from "../../shared/core/signal.ts";
import { counted } from "../../shared/core/wording.ts";
import { readIfThere } from "../../shared/io/file.ts";
import type { Log } from "../../shared/output/log.ts";
import { kill } from "../../shared/process/kill.ts";
import { ownChildren } from "./child.ts";
import { isOfAnotherPod } from "./core/cgroup.ts";
import { endingSignals, hasEnded, type Process, runsExecutable } from "./core/process.ts";
import { allPids, readStat } from "./processes.ts";

/** The outcome of ending one process or, without `pid`, of a search that found no process. */
interface ProcessEnd {
  readonly pid?: number;
  /** Whether the process has ended; false if none was found. */
  readonly isGone: boolean;
  /** The outcome in words, for the log. */
  readonly outcome: string;
}

/**
 * Ends all processes of this pod that run the executable `name` (a file name, or a path), all at the same time. With
 * hostPID those of other pods are seen too: they are left alone. Each process gets SIGINT,
 * SIGTERM and SIGKILL, a third of `timeoutMs` apart, until it is gone. Resolves with one entry for each process, or
 * with a single entry without `pid` if there is none.
 */
export async function endProcesses(name: string, timeoutMs: number): Promise<readonly ProcessEnd[]> {
  const pids = allPids();
  const { own, others } = processesOf(name, pids);
  if (own.length > 0) return await Promise.all(own.map((process) => endProcess(process, timeoutMs)));
  return [{ isGone: false, outcome: noneFound(pids.length, others) }];
}

function noneFound(seen: number, others: number): string {
  if (seen === 0) return "no process can be found: /proc cannot be read";
  if (others > 0) return `only other pods run it here (${counted(others, "process", "processes")}): left alone`;
  return "no such process here; to see those of other containers, set shareProcessNamespace: true";
}

/** Reports whether a process runs any of these executables (file names, or paths). */
export function isAnyRunning(names: readonly string[]): boolean {
  const pids = allPids();
  return names.some((name) => processesOf(name, pids).own.length > 0);
}

/** Finds the processes of this pod that run an executable, and counts those of other pods. */
function processesOf(
  name: string,
  pids: readonly number[],
): { readonly own: readonly Process[]; readonly others: number } {
  const ours = readIfThere("/proc/self/cgroup") ?? "";
  const own: Process[] = [];
  let others = 0;
  for (const pid of pids) {
    const seen = readProcess(pid);
    if (seen === undefined || !runsExecutable(seen, name, process.pid)) continue;
    if (isOfAnotherPod(readIfThere(`/proc/${pid}/cgroup`) ?? "", ours)) others += 1;
    else own.push(seen);
  }
  return { own, others };
}

/** Reads a process from /proc. Returns undefined if it has ended or is a kernel thread. */
function readProcess(pid: number): Process | undefined {
  const stat = readStat(pid);
  const [argv0 = ""] = (readIfThere(`/proc/${pid}/cmdline`) ?? "").split("\0");
  if (stat === undefined || hasEnded(stat) || argv0 === "") return undefined;
  return { ...stat, argv0, exe: readExecutable(pid) };
}

function readExecutable(pid: number): string | undefined {
  const { readlinkSync } = require("node:fs") as typeof import("node:fs");
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined; // another user's: the name that it shows has to do
  }
}

async function endProcess(target: Process, timeoutMs: number): Promise<ProcessEnd> {
  const { pid } = target;
  const start = performance.now();
  for (const [index, signal] of endingSignals.entries()) {
    if (isGone(target)) return { pid, isGone: true, outcome: "exited" };
    const problem = kill(pid, signal);
    if (problem !== undefined) {
      const need = "run ebb as that process's user, or give it the capability KILL";
      return { pid, isGone: false, outcome: `${signalName(signal)}: ${problem}: ${need}` };
    }
    const until = start + (timeoutMs * (index + 1)) / endingSignals.length;
    if (await watchItEnd(target, until)) return { pid, isGone: true, outcome: `gone after ${signalName(signal)}` };
  }
  return { pid, isGone: false, outcome: "processes still run after SIGKILL" };
}

/** Reports whether the process ends before `until` (performance.now()). */
async function watchItEnd(target: Process, until: number): Promise<boolean> {
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 1.2, 25)) {
    if (isGone(target)) return true;
    const leftMs = until - performance.now();
    if (leftMs <= 0) return false;
    await Bun.sleep(Math.min(waitMs, leftMs));
  }
}

/** Reports whether the process has ended, even if another process has its PID by now. */
function isGone({ pid, startTicks }: Process): boolean {
  const now = readStat(pid);
  return now === undefined || hasEnded(now) || now.startTicks !== startTicks;
}

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

/** Returns what `ownChildren` does, from all of /proc. */
export function searchChildren(): readonly number[] {
  return allPids().filter((pid) => readStat(pid)?.parent === process.pid);
}

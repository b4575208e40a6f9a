import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { ebbPath } from "./ebb.ts";

/**
 * Returns a process's state as in /proc/PID/stat: R, S, T (stopped), Z (zombie) ...; undefined if there is no such
 * process.
 */
export function processState(pid: number): string | undefined {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}

/** Returns the children of a process, zombies too; none if the process is gone. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // it is gone
  }
}

/**
 * Returns what a process has open, such as `socket:[123]` or a path, by descriptor. A descriptor that closes meanwhile
 * is left out. @throws Error if the process is gone
 */
export function descriptorsOf(pid: number): ReadonlyMap<number, string> {
  const open = new Map<number, string>();
  for (const number of readdirSync(`/proc/${pid}/fd`)) {
    try {
      open.set(Number(number), readlinkSync(`/proc/${pid}/fd/${number}`));
    } catch {
      // it has closed
    }
  }
  return open;
}

/**
 * Returns a process's memory in bytes, as /proc/PID/status has it: resident, that part which no file backs, or the most
 * that was resident. @throws Error if the process is gone
 */
export function memoryOf(pid: number, field: "VmRSS" | "RssAnon" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
}

/** Reports whether a process runs the executable under test; false if it is gone or has not started it yet. */
export function isEbb(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === ebbPath;
  } catch {
    return false; // it is gone, or not started yet
  }
}

/**
 * Reports whether a process is ebb and blocks or handles a signal: from then on, losing the signal is ebb's fault.
 * Start ebb through `env` or another plain program, because in the middle of an exec the kernel shows ebb's name beside
 * the handlers of the program before. @throws Error if the process is gone
 */
export function catches(pid: number, signal: number): boolean {
  const { blocked, handled } = signalsOf(pid);
  return (((blocked | handled) >> BigInt(signal - 1)) & 1n) === 1n;
}

/**
 * Reports whether a process is ebb and has noted what it was started with, its parent too: it then handles the signals
 * that musl unblocks. Start ebb as for `catches`. @throws Error if the process is gone
 */
export function hasNotedItsStart(pid: number): boolean {
  return ((signalsOf(pid).handled >> 31n) & 1n) === 1n;
}

/** Returns the signals of a process that is ebb, as masks; none of another's. @throws Error if the process is gone */
function signalsOf(pid: number): { readonly blocked: bigint; readonly handled: bigint } {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  if (!status.startsWith(`Name:\t${basename(ebbPath).slice(0, 15)}`)) return { blocked: 0n, handled: 0n };
  const [, blocked, handled] = /^SigBlk:\t(\w+)\nSigIgn:.*\nSigCgt:\t(\w+)$/m.exec(status) ?? [];
  return { blocked: BigInt(`0x${blocked}`), handled: BigInt(`0x${handled}`) };
}

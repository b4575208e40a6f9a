import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { ebbPath } from "./harness.ts";

/** R, S, T (stopped), Z (zombie) ...; undefined: no such process. */
export function processState(pid: number): string | undefined {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}

/** The processes that it has to reap, zombies among them. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // it is gone
  }
}

/** What it has open, by number. A descriptor may close between the listing and the look at it: such a one is left out. */
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

export function isEbb(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === ebbPath;
  } catch {
    return false; // it is gone, or not started yet
  }
}

/**
 * Whether an ebb holds or handles a signal: from then on, losing it is its fault. Start it through `env` or another plain
 * program: in the middle of an exec the kernel shows ebb's name beside the handlers of the program before.
 */
export function catches(pid: number, signal: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  if (!status.startsWith(`Name:\t${basename(ebbPath).slice(0, 15)}`)) return false;
  const [, blocked, handled] = /^SigBlk:\t(\w+)\nSigIgn:.*\nSigCgt:\t(\w+)$/m.exec(status) ?? [];
  return (((BigInt(`0x${blocked}`) | BigInt(`0x${handled}`)) >> BigInt(signal - 1)) & 1n) === 1n;
}

import type { ChildExit } from "../../shared/core/exit.ts";
import { type SignalNumber, signalName } from "../../shared/core/signal.ts";
import { readIfThere } from "../../shared/io/file.ts";
import { ERRNO } from "../../shared/native/errno.ts";
import { native } from "../../shared/native/native.ts";
import type { Log } from "../../shared/output/log.ts";
import { kill } from "../../shared/process/kill.ts";
import { noShell, scriptAt, startFailure } from "./start-failure.ts";

/** A program and its arguments. */
export interface CommandLine {
  readonly words: readonly string[];
  /** The index of the program in the argv that ebb was given; undefined if `words` is not the end of that argv. */
  readonly argvIndex: number | undefined;
}

/** The command that ebb has started. Two fields change while it runs. */
export interface Child {
  /** Also the number of its process group, unless `sharesGroup`. */
  readonly pid: number;
  /** A descriptor (0, 1 or 2) of ebb's terminal; -1 if ebb has no terminal. */
  readonly terminal: number;
  /** Whether its group is the terminal's foreground group because ebb made it so: ebb has to undo that. */
  hasTerminal: boolean;
  /** The PIDs of children that ebb had before: those of the program that became ebb by exec. */
  readonly others: readonly number[];
  /** Whether it is in ebb's own process group, as it is in a pipeline at a terminal. */
  readonly sharesGroup: boolean;
  /** Whether ebb has sent it a signal that stops it, and none since then that continues it. */
  isToStop: boolean;
}

/**
 * Starts the command with the environment, working directory, descriptors and signal dispositions that ebb was started
 * with, and gives it ebb's terminal if ebb is in the foreground there. The child leads a process group of its own,
 * unless `mustLead` is false and ebb is in a pipeline at a terminal. From then on ebb adopts the child's orphans.
 * @throws Failure(127) if the program, its interpreter or its loader is not found, Failure(71) if memory, processes or
 * descriptors are exhausted, else Failure(126)
 */
export function spawn(command: CommandLine, mustLead: boolean): Child {
  const place = new Int32Array([-1, 0, 0, 0]);
  const pid = start(command, (words, index) => native.spawn(words, index, mustLead ? 1 : 0, place));
  const sharesGroup = place[2] === 1;
  return {
    pid,
    terminal: place[0] as number,
    hasTerminal: place[1] === 1 && !sharesGroup,
    sharesGroup,
    others: place[3] === 1 ? (ownChildren() ?? []).filter((other) => other !== pid) : [],
    isToStop: false,
  };
}

/**
 * Returns the PIDs of all children that ebb has to reap, adopted orphans included; undefined if /proc does not list
 * them (kernel without CONFIG_PROC_CHILDREN).
 */
export function ownChildren(): readonly number[] | undefined {
  const text = readIfThere(`/proc/self/task/${process.pid}/children`);
  return text?.split(" ").filter(Boolean).map(Number);
}

/**
 * Replaces this process by the command, which gets the environment, descriptors and signal dispositions that ebb was
 * started with. Call `holdSignals` first. Never returns. @throws Failure as `spawn`
 */
export function exec(command: CommandLine): never {
  start(command, native.exec);
  throw new Error("exec returned");
}

/**
 * Starts ebb's own argv from `index` on or, if `index` is -1, `words`, which are separated by zero bytes. Returns a
 * PID, or -errno.
 */
type Exec = (words: string, index: number) => number;

/**
 * Starts the command by `run`, from the very bytes of ebb's own argv if they are there, and returns its result. Runs a
 * script without `#!` by sh, as execvp(3) does. @throws Failure as `spawn`
 */
function start({ words, argvIndex }: CommandLine, run: Exec): number {
  const result = run(words.join("\0"), argvIndex ?? -1);
  if (result >= 0) return result;
  const [file = "", ...rest] = words;
  const script = result === -ERRNO.ENOEXEC ? scriptAt(file) : undefined;
  if (script === undefined) throw startFailure(file, -result);
  const byShell = run(["/bin/sh", script, ...rest].join("\0"), -1);
  if (byShell < 0) throw noShell(file, -byShell);
  return byShell;
}

/** A change of a child's state: `exit` says how it ended, `stop` is the signal that stopped it. */
export type ChildChange = { readonly exit: ChildExit } | { readonly stop: SignalNumber };

const status = new Int32Array(1);

/** Calls `tell` for each child and adopted orphan that has ended, which this reaps, or was stopped. Does not block. */
export function reapChildren(tell: (pid: number, change: ChildChange) => void): void {
  for (;;) {
    const pid = native.reap(status);
    if (pid <= 0) return;
    tell(pid, decodeStatus(status[0] as number));
  }
}

/** Decodes a wait status (wait(2): WIFSTOPPED, WSTOPSIG, WEXITSTATUS and WTERMSIG). */
function decodeStatus(status: number): ChildChange {
  const [signal, code] = [status & 0x7f, (status >> 8) & 0xff];
  if (signal === 0x7f) return { stop: code };
  return { exit: signal === 0 ? { code } : { signal } };
}

/** Sends a signal as `kill` does. Logs a warning if that fails. */
export function sendSignal(log: Log, pid: number, signal: SignalNumber): void {
  const problem = kill(pid, signal);
  if (problem !== undefined) log.warn({ signal: signalName(signal), pid, problem }, "cannot send a signal");
}

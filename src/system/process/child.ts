import { redactUrls } from "../../core/base/redact.ts";
import { type ChildExit, EXIT, Failure } from "../../core/run/exit.ts";
import type { SignalNumber } from "../../core/run/signal.ts";
import { readIfThere } from "../file.ts";
import { ERRNO, errorText } from "../native/errno.ts";
import { native } from "../native/native.ts";

/** A command line: its words, and where it starts in the argv that ebb was given, if it stands there. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly argvIndex: number | undefined;
}

export interface Child {
  readonly pid: number;
  /** A descriptor of ebb's terminal; -1 where ebb has none. */
  readonly terminal: number;
  /** Whether the terminal was given to it, and is to be taken back. */
  hasTerminal: boolean;
  /** ebb's children before it: another program's, which ebb has taken the place of. */
  readonly others: readonly number[];
  /** In a pipeline at a terminal it is in ebb's own process group. */
  readonly sharesGroup: boolean;
  /** It was sent a signal that stops it, and none since that continues it. */
  isToStop: boolean;
}

const exhausted: readonly number[] = [ERRNO.EAGAIN, ERRNO.ENOMEM, ERRNO.ENFILE, ERRNO.EMFILE];

/**
 * Starts the command with the environment, working directory, descriptors and signal dispositions that ebb was started with, and
 * hands it ebb's terminal. It gets a process group of its own, unless `mustLead` is false and ebb is in a pipeline. @throws
 * Failure 127 not found, 126 not executable, 71 the system refused
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

/** Returns the PIDs of all children that ebb has to reap; undefined where /proc does not tell (CONFIG_PROC_CHILDREN). */
export function ownChildren(): readonly number[] | undefined {
  const text = readIfThere(`/proc/self/task/${process.pid}/children`);
  return text?.split(" ").filter(Boolean).map(Number);
}

/** Replaces this process by the command, which gets what ebb was started with. Never returns. @throws as `spawn` */
export function exec(command: CommandLine): never {
  start(command, native.exec);
  throw new Error("exec returned");
}

/** Given a command line: ebb's own argv from an index on; with -1 these words. */
type Run = (words: string, index: number) => number;

/**
 * Starts the command from the very bytes of ebb's own argv if possible. A script without `#!` is run by sh, as execvp(3) does.
 */
function start({ words, argvIndex }: CommandLine, run: Run): number {
  let result = run(words.join("\0"), argvIndex ?? -1);
  if (result === -ERRNO.ENOEXEC) {
    const [file = "", ...rest] = words;
    const script = file.includes("/") ? file : (Bun.which(file) ?? file);
    result = run(["/bin/sh", script, ...rest].join("\0"), -1);
  }
  if (result < 0) throw startFailure(words[0] as string, -result);
  return result;
}

function startFailure(file: string, error: number): Failure {
  const message = `cannot start ${redactUrls(file) || "''"}: ${errorText(error)}` as const;
  if (error === ERRNO.ENOENT || error === ERRNO.ENOTDIR) return new Failure(EXIT.notFound, message);
  return new Failure(exhausted.includes(error) ? EXIT.system : EXIT.notExecutable, message);
}

/** How a child has changed: how it ended, or the signal that stopped it. */
export type Change = { readonly exit: ChildExit } | { readonly stop: SignalNumber };

const status = new Int32Array(1);

/** Reaps each child and orphan that has ended, and calls `tell` with each change: an end or a stop. */
export function reapChildren(tell: (pid: number, change: Change) => void): void {
  for (;;) {
    const pid = native.reap(status);
    if (pid <= 0) return;
    tell(pid, decodeStatus(status[0] as number));
  }
}

/** Decodes a wait status (wait(2): WIFSTOPPED, WSTOPSIG, WEXITSTATUS and WTERMSIG). */
function decodeStatus(status: number): Change {
  const [signal, code] = [status & 0x7f, (status >> 8) & 0xff];
  if (signal === 0x7f) return { stop: code };
  return { exit: signal === 0 ? { code } : { signal } };
}

/** Whether there is any process in a group, one that has ended but is not reaped among them. */
export function hasGroup(group: number): boolean {
  return native.kill(-group, 0) !== -ERRNO.ESRCH;
}

/** Sends a signal to a process, or to a group by its negative number. Returns why it could not be sent; one that is gone is no error. */
export function kill(pid: number, signal: SignalNumber): string | undefined {
  const result = native.kill(pid, signal);
  return result === 0 || result === -ERRNO.ESRCH ? undefined : errorText(-result);
}

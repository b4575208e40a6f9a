import { type ChildExit, EXIT, Failure } from "../core/exit.ts";
import type { SignalNumber } from "../core/signal.ts";
import { cStrings, ERRNO, errno, errorText, libc, type Pointer, ptr, read } from "./libc.ts";
import { native } from "./native.ts";

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
  /** In a pipeline at a terminal it is in ebb's own process group. */
  readonly sharesGroup: boolean;
}

const exhausted: readonly number[] = [ERRNO.EAGAIN, ERRNO.ENOMEM, ERRNO.ENFILE, ERRNO.EMFILE];
const WNOHANG = 1;
const WUNTRACED = 2;

/**
 * Starts the command with what ebb was started with: environment, working directory, descriptors, ignored and blocked
 * signals; in a process group of its own, unless it need not lead one and is in a pipeline. Hands it ebb's terminal.
 * @throws Failure 127 not found, 126 not executable, 71 the system refused
 */
export function spawn(command: CommandLine, mustLead: boolean): Child {
  const place = new Int32Array([-1, 0, 0]);
  const pid = start(command, ({ file, argv }) => native.ebb_spawn(file, argv, mustLead ? 1 : 0, ptr(place)));
  const [terminal = -1, isForeground, isShared] = place;
  return { pid, terminal, hasTerminal: isForeground === 1 && isShared === 0, sharesGroup: isShared === 1 };
}

/** Replaces this process by the command, which gets what ebb was started with; returns only by throwing, as `spawn` does. */
export function exec(command: CommandLine): never {
  start(command, ({ file, argv }) => native.ebb_exec(file, argv));
  throw new Error("exec returned");
}

interface Argv {
  readonly file: Pointer;
  readonly argv: Pointer;
  /** Keeps what the addresses point to alive. */
  readonly memory?: readonly unknown[];
}

/** A script without `#!` is the shell's, as execvp(3) has it. */
function start(command: CommandLine, run: (words: Argv) => number): number {
  let result = run(argvOf(command));
  if (result === -ERRNO.ENOEXEC) {
    const [file = "", ...rest] = command.words;
    const script = file.includes("/") ? file : (Bun.which(file) ?? file);
    result = run(encode(["/bin/sh", script, ...rest]));
  }
  if (result < 0) throw startFailure(command.words[0] as string, -result);
  return result;
}

/** In the static executable the very bytes that ebb was given; in development re-encoded. */
function argvOf({ words, argvIndex }: CommandLine): Argv {
  const given = argvIndex === undefined ? null : native.ebb_argv();
  if (given === null || argvIndex === undefined) return encode(words);
  const argv = (given + 8 * argvIndex) as Pointer;
  return { file: read.ptr(argv, 0) as Pointer, argv };
}

function encode(words: readonly string[]): Argv {
  const { address, memory } = cStrings(words);
  return { file: read.ptr(address, 0) as Pointer, argv: address, memory };
}

function startFailure(file: string, error: number): Failure {
  const message = `${file}: ${errorText(error)}`;
  if (error === ERRNO.ENOENT || error === ERRNO.ENOTDIR) return new Failure(EXIT.notFound, message);
  return new Failure(exhausted.includes(error) ? EXIT.system : EXIT.notExecutable, message);
}

/** How a child has changed: how it ended, or the signal that stopped it. */
export type Change = { readonly exit: ChildExit } | { readonly stop: SignalNumber };

const status = new Int32Array(1);

/** What has happened since to the child and to orphans, one by one: those that ended are reaped, none is left a zombie. */
export function reap(tell: (pid: number, change: Change) => void): void {
  for (;;) {
    const pid = libc.waitpid(-1, ptr(status), WNOHANG | WUNTRACED);
    if (pid <= 0) return;
    tell(pid, decodeStatus(status[0] as number));
  }
}

/** A wait status (wait(2): WIFSTOPPED, WSTOPSIG, WEXITSTATUS and WTERMSIG). */
function decodeStatus(status: number): Change {
  const [signal, code] = [status & 0x7f, (status >> 8) & 0xff];
  if (signal === 0x7f) return { stop: code };
  return { exit: signal === 0 ? { code } : { signal } };
}

/** Sends a signal to a process, or to a group by its negative number. Returns why it could not be sent; one that is gone is no error. */
export function kill(pid: number, signal: SignalNumber): string | undefined {
  if (libc.kill(pid, signal) === 0) return undefined;
  const error = errno();
  return error === ERRNO.ESRCH ? undefined : errorText(error);
}

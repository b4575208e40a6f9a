import { type ChildExit, EXIT, Failure } from "../core/exit.ts";
import { SIG, type SignalNumber } from "../core/signal.ts";
import type { Inherited } from "./inherited.ts";
import { type CStrings, cStrings, ERRNO, errno, errorText, libc, type Pointer, ptr, read, signalSet } from "./libc.ts";
import { ignoreTerminalStops, restoreSignals } from "./signals.ts";

/** A command line: its words, and where it starts in the argv that ebb was given. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly argvIndex: number;
}

const SETPGROUP = 2;
const SETSIGDEF = 4;
const SETSIGMASK = 8;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const WNOHANG = 1;
const PR_SET_CHILD_SUBREAPER = 36n;

/**
 * Starts the command in a process group of its own with what ebb was started with: environment, working directory,
 * descriptors, ignored and blocked signals. Hands it the terminal where ebb has it.
 * @throws Failure 127 not found, 126 not executable, 71 the system refused
 */
export function spawn(command: CommandLine, inherited: Inherited | undefined): number {
  const hasTerminal = libc.tcgetpgrp(0) === libc.getpgrp();
  if (hasTerminal) ignoreTerminalStops();
  shareDescriptors(inherited);
  const memory = nativeCommand(command, inherited);
  let pid = spawnWith(memory, inherited);
  if (pid === -ERRNO.ENOEXEC) pid = spawnWith(shellCommand(command, memory), inherited);
  if (pid < 0) throw startFailure(command.words[0] as string, -pid);
  if (hasTerminal) {
    libc.tcsetpgrp(0, pid);
    kill(-pid, SIG.CONT); // it may have been stopped for using the terminal before it had it
  }
  return pid;
}

/** Replaces this process by the command; returns only by throwing. */
export function exec(command: CommandLine, inherited: Inherited | undefined): never {
  shareDescriptors(inherited);
  const native = nativeCommand(command, inherited);
  restoreSignals(inherited);
  libc.execvpe(native.file, native.argv, native.environ);
  let error = errno();
  if (error === ERRNO.ENOEXEC) {
    const shell = shellCommand(command, native);
    libc.execvpe(shell.file, shell.argv, shell.environ);
    error = errno();
  }
  throw startFailure(command.words[0] as string, error);
}

interface NativeCommand {
  readonly file: Pointer;
  readonly argv: Pointer;
  readonly environ: Pointer;
  /** Keeps what the addresses point to alive. */
  readonly memory: readonly unknown[];
}

/** In the static executable the very bytes that ebb was given; in development re-encoded. */
function nativeCommand({ words, argvIndex }: CommandLine, inherited: Inherited | undefined): NativeCommand {
  if (inherited !== undefined) {
    const argv = (inherited.argv + 8 * argvIndex) as Pointer;
    return {
      file: read.ptr(argv, 0) as Pointer,
      argv,
      environ: inherited.environ,
      memory: [],
    };
  }
  const argv = cStrings(words);
  const environ = environment();
  return {
    file: read.ptr(argv.address, 0) as Pointer,
    argv: argv.address,
    environ: environ.address,
    memory: [argv, environ],
  };
}

function environment(): CStrings {
  return cStrings(Object.entries(process.env).map(([name, value]) => `${name}=${value}`));
}

/** A script without `#!` is the shell's, as execvp(3) has it. */
function shellCommand({ words }: CommandLine, { environ }: NativeCommand): NativeCommand {
  const [file = "", ...rest] = words;
  const argv = cStrings(["/bin/sh", file.includes("/") ? file : (Bun.which(file) ?? file), ...rest]);
  return {
    file: read.ptr(argv.address, 0) as Pointer,
    argv: argv.address,
    environ,
    memory: [argv],
  };
}

/** The pid, or minus errno. */
function spawnWith({ file, argv, environ }: NativeCommand, inherited: Inherited | undefined): number {
  const attributes = ptr(new Uint8Array(512)); // posix_spawnattr_t: 336 bytes in glibc and musl
  libc.posix_spawnattr_init(attributes);
  libc.posix_spawnattr_setflags(attributes, SETPGROUP | SETSIGDEF | SETSIGMASK);
  libc.posix_spawnattr_setpgroup(attributes, 0);
  libc.posix_spawnattr_setsigdefault(attributes, ptr(signalSet(BigInt.asUintN(64, ~(inherited?.ignored ?? 0n)))));
  libc.posix_spawnattr_setsigmask(attributes, ptr(signalSet(inherited?.blocked ?? 0n)));
  const pid = new Int32Array(1);
  const error = libc.posix_spawnp(ptr(pid), file, null, attributes, argv, environ);
  return error === 0 ? (pid[0] as number) : -error;
}

/** Bun marks inherited descriptors close-on-exec, and opens /dev/null for a standard one that is closed. */
function shareDescriptors(inherited: Inherited | undefined): void {
  if (inherited === undefined) return;
  for (const descriptor of inherited.descriptors) libc.fcntl(descriptor, F_SETFD, 0);
  for (const standard of [0, 1, 2]) {
    if (!inherited.descriptors.includes(standard)) libc.fcntl(standard, F_SETFD, FD_CLOEXEC);
  }
}

function startFailure(file: string, error: number): Failure {
  const message = `${file}: ${errorText(error)}`;
  if (error === ERRNO.ENOENT || error === ERRNO.ENOTDIR) return new Failure(EXIT.notFound, message);
  const refused = error === ERRNO.EAGAIN || error === 12 || error === 23 || error === 24;
  return new Failure(refused ? EXIT.system : EXIT.notExecutable, message);
}

/** Takes the terminal back from a child that has ended. */
export function takeTerminalBack(): void {
  const foreground = libc.tcgetpgrp(0);
  if (foreground > 0 && foreground !== libc.getpgrp()) libc.tcsetpgrp(0, libc.getpgrp());
}

/** Orphans of the child come to ebb, as they do to PID 1 (prctl(2), PR_SET_CHILD_SUBREAPER). */
export function becomeSubreaper(): void {
  libc.prctl(Number(PR_SET_CHILD_SUBREAPER), 1n, 0n, 0n, 0n);
}

export interface Reaped {
  readonly pid: number;
  readonly exit: ChildExit;
}

/** Every process that has ended since, the child or an orphan; none is left a zombie. */
export function reap(): readonly Reaped[] {
  const reaped: Reaped[] = [];
  const status = new Int32Array(1);
  for (;;) {
    const pid = libc.waitpid(-1, ptr(status), WNOHANG);
    if (pid <= 0) return reaped;
    reaped.push({ pid, exit: decodeStatus(status[0] as number) });
  }
}

/** A wait status (wait(2), WEXITSTATUS and WTERMSIG). */
function decodeStatus(status: number): ChildExit {
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal };
}

/** Sends a signal to a process, or to a group by its negative number; one that is gone is no error. */
export function kill(pid: number, signal: SignalNumber): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

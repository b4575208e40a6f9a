import { baseName } from "../base/text.ts";
import { SIG, type SignalNumber } from "./signal.ts";

/** A process as /proc/PID shows it (proc(5)). */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks from boot to its start. Together with the PID they identify a process, because PIDs are used again. */
  readonly startTicks: number;
  /** R, S, D, T, Z ... */
  readonly state: string;
  /** The executable's path; undefined if this user may not read it. */
  readonly exe: string | undefined;
  /** The first 15 bytes of its name. */
  readonly comm: string;
  readonly argv0: string;
}

/** An executable whose processes are to be ended (`--signal-process`). */
export interface Executable {
  /** Its name or absolute path. */
  readonly name: string;
  /** Whether they are ended only if nothing else has ended the sidecar. */
  readonly isLastResort: boolean;
}

/**
 * Parses an executable's name or absolute path, after a `+` if it is a last resort. Returns undefined for anything
 * else.
 */
export function parseExecutable(text: string): Executable | undefined {
  const isLastResort = text.startsWith("+");
  const name = isLastResort ? text.slice(1) : text;
  return isExecutable(name) ? { name, isLastResort } : undefined;
}

function isExecutable(text: string): boolean {
  const folder = text.lastIndexOf("/") + 1;
  if (folder > 0 && !/^\/.*$/.test(text.slice(0, folder))) return false;
  return /^\S[^\n\0]*$/.test(text.slice(folder)) && text !== "." && text !== "..";
}

/** The part of a process that /proc/PID/stat shows. */
export type Stat = Omit<Process, "exe" | "argv0">;

/** Parses /proc/PID/stat (proc_pid_stat(5)). Returns undefined if the text has another form. */
export function parseStat(text: string): Stat | undefined {
  // a process chooses its own name, which ends at the last parenthesis
  const [, pid, comm = "", rest = ""] = /^(\d+) \(([\s\S]*)\) ([^()]*)$/.exec(text.trimEnd()) ?? [];
  const [state = "", parent, ...fields] = rest.split(" ");
  const startTicks = Number(fields[17]);
  if (pid === undefined || Number.isNaN(startTicks)) return undefined;
  return { pid: Number(pid), parent: Number(parent), startTicks, state, comm };
}

/** The state of a process that has ended and is not reaped yet. */
export const ZOMBIE = "Z";

/** Reports whether a process has ended, although it may still wait to be reaped: its state is Z or X. */
export function hasEnded({ state }: Pick<Process, "state">): boolean {
  return /[ZXx]/.test(state);
}

/**
 * Reports whether a process runs the executable with this name, or with this path if `name` has a slash. The process
 * with the PID `self`, which is ebb, never does.
 *
 * If ebb may not read which executable that is (of another user's process, without CAP_SYS_PTRACE: proc(5)), argv[0]
 * and comm count, except for PID 1 and ebb's own children, because a process can choose them.
 */
export function runsExecutable(process: Process, name: string, self: number): boolean {
  const { pid, parent, exe, comm, argv0 } = process;
  if (pid === self) return false;
  if (exe !== undefined) return isNamed(exe.replace(/ \(deleted\)$/, ""), name);
  if (pid === 1 || parent === self) return false;
  const isWhole = comm.length < MAX_COMM;
  return isNamed(argv0, name) || (isWhole && comm === name);
}

/** The bytes of a name that the kernel keeps: comm of this length may have been cut. */
const MAX_COMM = 15;

function isNamed(path: string, name: string): boolean {
  return path === name || (!name.includes("/") && baseName(path) === name);
}

/** The signals that end a process, in order. Each has a third of the time. */
export const endingSignals: readonly SignalNumber[] = [SIG.INT, SIG.TERM, SIG.KILL];

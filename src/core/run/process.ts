import { SIG, type SignalNumber } from "./signal.ts";

/** A process as /proc/PID shows it (proc(5)). */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks from boot to its start: with the pid, which process it is. */
  readonly startTicks: number;
  /** R, S, D, T, Z ... */
  readonly state: string;
  /** The executable's path; undefined where this user may not read it. */
  readonly exe: string | undefined;
  /** The first 15 bytes of its name. */
  readonly comm: string;
  readonly argv0: string;
}

/** An executable, and whether its processes are ended only where nothing else has ended the sidecar. */
export interface Executable {
  readonly name: string;
  readonly isLastResort: boolean;
}

/** Parses an executable's name or path, with `+` before it for a last resort; undefined for anything else. */
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

/** Of a process what /proc/PID/stat says. */
export type Stat = Omit<Process, "exe" | "argv0">;

/** Reads /proc/PID/stat (proc_pid_stat(5)); undefined where it is not understood. The name, which the process chooses itself, ends at the last parenthesis. */
export function parseStat(text: string): Stat | undefined {
  const [, pid, comm = "", rest = ""] = /^(\d+) \(([\s\S]*)\) ([^()]*)$/.exec(text.trimEnd()) ?? [];
  const [state = "", parent, ...fields] = rest.split(" ");
  const startTicks = Number(fields[17]);
  if (pid === undefined || Number.isNaN(startTicks)) return undefined;
  return { pid: Number(pid), parent: Number(parent), startTicks, state, comm };
}

/** Whether a process has ended and only waits to be reaped: its state is Z or X. */
export function hasEnded({ state }: Pick<Process, "state">): boolean {
  return /[ZXx]/.test(state);
}

/**
 * Whether a process runs the executable with this name, or this path where `name` has a slash. ebb itself (`self`) never does.
 *
 * Where the executable may not be read (another user's, without CAP_SYS_PTRACE: proc(5)), the name that the process shows counts.
 * A process can choose that, so it does not count for PID 1 and ebb's own children.
 */
export function runsExecutable(process: Process, name: string, self: number): boolean {
  const { pid, parent, exe, comm, argv0 } = process;
  if (pid === self) return false;
  if (exe !== undefined) return isNamed(exe.replace(/ \(deleted\)$/, ""), name);
  if (pid === 1 || parent === self) return false;
  const isWhole = comm.length < MAX_COMM;
  return isNamed(argv0, name) || (isWhole && comm === name);
}

const MAX_COMM = 15;

function isNamed(path: string, name: string): boolean {
  return path === name || (!name.includes("/") && path.slice(path.lastIndexOf("/") + 1) === name);
}

/** From asking to forcing, a third of the time for each. */
export const endingSignals: readonly SignalNumber[] = [SIG.INT, SIG.TERM, SIG.KILL];

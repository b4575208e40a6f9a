import { SIG, type SignalNumber } from "../../../shared/core/signal.ts";
import { baseName } from "../../../shared/core/text.ts";

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

/** What /proc tells of all processes. */
export interface ProcessTable {
  readonly processes: readonly Stat[];
  /** How many processes there are whose descriptors ebb may not read. */
  readonly unreadable: number;
  /** The PID of ebb. */
  readonly self: number;
  /** The texts of /proc/self/cgroup and /proc/1/cgroup: each container has a cgroup of its own. */
  readonly ownCgroup: string | undefined;
  readonly initCgroup: string | undefined;
  /** Milliseconds since boot. */
  readonly uptimeMs: number | undefined;
  /** Whether PID 1 runs the same executable as ebb, under whatever name. Undefined if ebb may not see that. */
  readonly isInitOwn: boolean | undefined;
  /** Returns the command line of a process, or an empty list if it has none or ebb may not read it. */
  readonly commandOf: (pid: number) => readonly string[];
}

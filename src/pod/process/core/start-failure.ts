import { EXIT } from "../../../shared/core/exit.ts";
import type { FileHead } from "./file-head.ts";

/** What stands at a path, after symbolic links. */
export type Seen =
  /** A symbolic link whose target does not exist. */
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "folder" }
  | {
      readonly kind: "file";
      /** The permission bits. */
      readonly mode: number;
      /** Its user and group, as `0:0`. */
      readonly owner: string;
      /** Whether the kernel allows ebb's user to execute it (access(2)). */
      readonly mayExecute: boolean;
      /** Undefined if it cannot be read. */
      readonly head: FileHead | undefined;
    };

/** Where a program was to start. */
export interface Host {
  /** Returns what stands at a path, or undefined if nothing does or a folder of the path may not be searched. */
  readonly look: (path: string) => Seen | undefined;
  /** The processor, named as in images: `amd64`. */
  readonly machine: string;
  /** ebb's user and group, as `65532:65532`. */
  readonly user: string;
}

/** Why a program did not start. */
export interface StartProblem {
  readonly reason: string;
  readonly exitCode: number;
}

/** Interpreters of interpreters: the kernel follows no more (linux fs/exec.c). */
const MOST_STEPS = 5;

/**
 * Explains why the file at `path` did not start, by what stands there and by what its first bytes ask for. `refused` is
 * what the system said; that is also the answer if nothing more is found.
 */
export function explainStart(path: string, refused: StartProblem, host: Host): StartProblem {
  return problemOf(path, refused, host, MOST_STEPS) ?? refused;
}

function problemOf(path: string, refused: StartProblem, host: Host, steps: number): StartProblem | undefined {
  const seen = host.look(path);
  if (seen === undefined) return refused;
  if (seen.kind === "link") return { ...refused, reason: `${refused.reason}: it is a symbolic link to ${seen.to}` };
  if (seen.kind === "folder") return notExecutable("permission denied: it is a folder");
  if (!seen.mayExecute) return notExecutable(`permission denied: ${whyNot(seen, host)}`);
  const { head } = seen;
  if (head?.kind === "foreign") return notExecutable(`it is ${head.what}`);
  if (steps === 0) return undefined;
  const find = (next: string) => problemOf(next, refused, host, steps - 1);
  if (head?.kind === "script") return aboutInterpreter(head.interpreter, find(head.interpreter));
  if (head?.kind !== "elf") return undefined;
  const { machine, loader } = head;
  if (!runs(machine, host, refused))
    return notExecutable(`it is a program for ${machine}, and this machine is ${host.machine}`);
  return loader === undefined ? undefined : aboutLoader(loader, find(loader));
}

function notExecutable(reason: string): StartProblem {
  return { reason, exitCode: EXIT.notExecutable };
}

function whyNot({ mode, owner }: Extract<Seen, { kind: "file" }>, { user }: Host): string {
  const shown = mode.toString(8).padStart(4, "0");
  if ((mode & 0o111) === 0) return `its mode is ${shown}; chmod +x, or COPY --chmod=755`;
  if ((mode & 0o111) === 0o111) return `its mode is ${shown}, so its volume is mounted noexec`;
  return `its mode is ${shown} and its owner ${owner}, and ebb runs as ${user}`;
}

function aboutInterpreter(interpreter: string, problem: StartProblem | undefined): StartProblem | undefined {
  if (problem === undefined) return undefined;
  const { reason } = problem;
  if (!interpreter.endsWith("\r")) return { ...problem, reason: `its first line names ${interpreter}: ${reason}` };
  const named = JSON.stringify(interpreter);
  return { ...problem, reason: `its first line ends with CR LF and so names ${named}: ${reason}; save it with LF` };
}

/** The programs of another machine that a kernel of this one may execute. What it does not find is then their loader. */
const compatible: Readonly<Record<string, string>> = { amd64: "386", arm64: "arm" };

function runs(machine: string, host: Host, refused: StartProblem): boolean {
  const isFound = refused.exitCode !== EXIT.notFound;
  return machine === host.machine || (!isFound && machine === compatible[host.machine]);
}

function aboutLoader(loader: string, problem: StartProblem | undefined): StartProblem | undefined {
  if (problem === undefined) return undefined;
  return { ...problem, reason: `it needs the loader ${loader}: ${problem.reason}${builtFor(loader)}` };
}

function builtFor(loader: string): string {
  if (/\/ld-musl-/.test(loader)) return "; it is built for musl (Alpine)";
  return /\/ld-linux/.test(loader) ? "; it is built for glibc, which Alpine and static images lack" : "";
}

/** Returns what to add to the reason if a program was not found and its name shows why; else an empty text. */
export function hintAtName(name: string): string {
  return /\s/.test(name) ? "; the name contains spaces: give the program and each argument as separate words" : "";
}

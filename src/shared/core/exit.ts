import type { SignalNumber } from "./signal.ts";

/** ebb's own exit codes: those of sysexits(3), and the shell's 126 and 127 for a command that could not start. */
export const EXIT = {
  ok: 0,
  /** `ebb request`: the status is 400 or more. */
  refused: 1,
  usage: 64,
  unavailable: 69,
  bug: 70,
  system: 71,
  notExecutable: 126,
  notFound: 127,
} as const;

/** The exit code of `ebb inject` and `ebb timeline` for what they cannot use: EX_DATAERR. No pod ends with it. */
export const INPUT_EXIT = 65;

/** The exit code of `ebb doctor` if it has found something. */
export const DOCTOR_EXIT = { found: 1 } as const;

/** The meaning of each of ebb's exit codes, from which the README's table is made. */
export const exitMeanings: readonly (readonly [code: string, meaning: string])[] = [
  ["0-255", "the command's own exit code, unchanged"],
  ["128+n", "the command, or the wait before it, was ended by signal n"],
  ["127", "the command, its interpreter or its loader was not found"],
  ["126", "the command was found but cannot be executed"],
  ["1", "request: status 400 or more; doctor: something to change; kubectl ebb why: the pod is stuck"],
  ["64", "usage: an unknown flag or command, or a bad value"],
  [
    "65",
    "inject: a manifest that cannot be read, or a pod that cannot be changed; with --strict: a warning; timeline: no line of ebb",
  ],
  ["69", "not ready in time; or could not drain, shut down a sidecar, or get an answer"],
  ["70", "a bug in ebb"],
  ["71", "the system refused (no memory, no processes left, ...)"],
];

/** An expected failure. Its message is for the user, its exit code for the caller, such as a `podFailurePolicy`. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Joins the texts of several failures to one text, each on its own line. */
export function allOf(problems: readonly string[]): string {
  return problems.join("\n");
}

/**
 * The end of a child: its exit code, or the signal that ended it. It stays in this form until ebb needs an exit code.
 */
export type ChildExit = { readonly code: number } | { readonly signal: SignalNumber };

/**
 * Returns the exit code for a child's end: its own code or 128 + the signal, or 0 if that is in `expected` (as `tini
 * -e`).
 */
export function exitCodeOf(exit: ChildExit, expected: readonly number[] = []): number {
  const code = "code" in exit ? exit.code : 128 + exit.signal;
  return expected.includes(code) ? 0 : code;
}

import type { FailureText } from "../messages/failure-text.ts";
import type { SignalNumber } from "./signal.ts";

/** ebb's own exit codes: sysexits(3) for ebb itself, the shell's 126 and 127 for a command that could not start. */
export const EXIT = {
  ok: 0,
  /** `ebb request`: the server said 400 or more. */
  refused: 1,
  usage: 64,
  unavailable: 69,
  bug: 70,
  system: 71,
  notExecutable: 126,
  notFound: 127,
} as const;

/** Those of `ebb inject`, apart, so that no pod carries them. */
export const INJECT_EXIT = {
  /** With --diff, as diff(1) has it. */
  differs: 1,
  /** sysexits(3), EX_DATAERR. */
  input: 65,
} as const;

/** Of `ebb doctor`. */
export const DOCTOR_EXIT = { found: 1 } as const;

/** What each of ebb's own codes means: the README's table and `--help` are made from it. */
export const exitMeanings: readonly (readonly [code: string, meaning: string])[] = [
  ["0-255", "the child's own exit code, unchanged"],
  ["128+n", "the child, or the wait before it, was ended by signal n"],
  ["127", "the command was not found"],
  ["126", "the command was found but cannot be executed"],
  ["1", "request: status 400 or more; inject --diff, doctor: something to change"],
  ["64", "usage: an unknown flag or command, or a bad value"],
  ["65", "inject: a manifest that cannot be read, or a pod that cannot be changed"],
  ["69", "not ready, or not done, in time"],
  ["70", "a bug in ebb"],
  ["71", "the system refused (no memory, no processes left, ...)"],
];

/** An expected failure: its message is for the user, its code for the caller's `podFailurePolicy`. */
export class Failure extends Error {
  declare readonly message: FailureText;
  readonly exitCode: number;

  constructor(exitCode: number, message: FailureText, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Joins several failures to one, each on its line. */
export function allOf(problems: readonly FailureText[]): FailureText {
  return problems.join("\n") as FailureText;
}

/** Whether an error is a `Failure`. Not by its class: a lazy bundle (build/bundle/lazy-bundles.ts) has a class of its own. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && typeof (error as Partial<Failure>).exitCode === "number";
}

/** How a child ended. Kept as it is until the last line, so that a signal never turns into a number too early. */
export type ChildExit = { readonly code: number } | { readonly signal: SignalNumber };

/** Returns the exit code for a child's end: its own, or 128 + the signal; 0 for those in `expected` (as `tini -e`). */
export function exitCodeOf(exit: ChildExit, expected: readonly number[] = []): number {
  const code = "code" in exit ? exit.code : 128 + exit.signal;
  return expected.includes(code) ? 0 : code;
}

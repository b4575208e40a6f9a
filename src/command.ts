import type { CallContext } from "./shared/cli/core/call.ts";
import type { Operands } from "./shared/cli/core/completion.ts";
import type { CommandHelp } from "./shared/cli/core/help.ts";
import type { Signals } from "./shared/process/signals.ts";

/** A command's call, with what it needs from the process. */
export interface Invocation extends CallContext {
  /** The index of `args` in the argv that ebb was given; undefined if they do not stand there in this order. */
  readonly argvIndex: number | undefined;
  /** The signals that ebb receives. */
  readonly signals: Signals;
}

/**
 * A subcommand. In `run`, `wait`, `sleep` and `quit`, `options` is a getter: picking the options costs 0.1 ms, for one
 * command only (measured).
 */
export interface Command extends CommandHelp {
  /** The operands that completion proposes; undefined for none. */
  readonly operands?: Operands;
  /** Runs the command. Resolves to ebb's exit code. @throws Failure for an expected failure, HelpAsked at --help */
  main(invocation: Invocation): Promise<number>;
}

/** The exit code of a bad call, for the `exits` of a command. */
export const badCall = ["64", "an unknown flag, or a bad value"] as const;

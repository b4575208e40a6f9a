import type { CallContext } from "./core/cli/call.ts";
import type { Operands } from "./core/cli/completion/spec.ts";
import type { Options } from "./core/cli/option.ts";
import type { Signals } from "./system/process/signals.ts";

/** A command's call, with what it needs from the process. */
export interface Invocation extends CallContext {
  /** The index of `args` in the argv that ebb was given; undefined if they do not stand there in this order. */
  readonly argvIndex: number | undefined;
  /** The signals that ebb receives. */
  readonly signals: Signals;
  /** The table of commands, for commands that describe others; undefined for `run`, `wait`, `sleep` and `quit`. */
  readonly commands?: Readonly<Record<string, Command>>;
}

/** A subcommand. */
export interface Command {
  /** Its line in `ebb --help`. */
  readonly summary: string;
  /** The text after `ebb` on the usage line. */
  readonly usage: string;
  /**
   * A getter in `run`, `wait`, `sleep` and `quit`: picking the options costs 0.1 ms, for one command only (measured).
   */
  readonly options: Options;
  /** The operands that completion proposes; undefined for none. */
  readonly operands?: Operands;
  /** Runs the command. Resolves to ebb's exit code. @throws Failure for an expected failure, HelpAsked at --help */
  main(invocation: Invocation): Promise<number>;
}

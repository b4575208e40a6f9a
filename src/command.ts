import type { CallContext } from "./core/cli/call.ts";
import type { Operands } from "./core/cli/completion/spec.ts";
import type { Options } from "./core/cli/option.ts";
import type { Signals } from "./system/process/signals.ts";

/** How a command was called. `args` is what follows its name. */
export interface Invocation extends CallContext {
  /** Where `args` starts in the argv that ebb was given; undefined: they do not stand there in this order. */
  readonly argvIndex: number | undefined;
  readonly signals: Signals;
  /** The table of commands, for those that speak of others; not there for what pods start with. */
  readonly commands?: Readonly<Record<string, Command>>;
}

/** A subcommand: its help, its options, and its story, which resolves to the exit code. */
export interface Command {
  readonly summary: string;
  /** What follows `ebb` on the usage line. */
  readonly usage: string;
  /** Of what pods start with a getter: to pick them costs 0.1 ms, for one command only (measured). */
  readonly options: Options;
  /** For completion; without it nothing is proposed. */
  readonly operands?: Operands;
  main(invocation: Invocation): Promise<number>;
}

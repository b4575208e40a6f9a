import type { Environment } from "../core/base/environment.ts";
import type { ForeignSettings } from "../core/cli/values.ts";

/** A tool in whose name ebb can be started: as its file's name, or as `ebb NAME`. */
export interface Personality {
  /** What follows the tool's name on its usage line. */
  readonly usage: string;
  /** One sentence: what a call does in ebb's words. */
  readonly about: string;
  /** The variables and flags of the tool that count, in the order of its documentation. */
  readonly takes: readonly string[];
  /** Never throws: what is wrong with a call is in `said.problems`. */
  readonly translate: (args: readonly string[], env: Environment) => Translation;
}

/** A tool's call in ebb's words. */
export interface Translation {
  readonly command: "run" | "wait" | "quit" | "request";
  readonly args: readonly string[];
  /** Where `args` starts among the tool's arguments; -1 where it starts with a `--` that is not there; undefined: nowhere. */
  readonly argsAt: number | undefined;
  readonly said: ForeignSettings;
  /** The tool was asked for its help. */
  readonly isHelp?: true;
}

/** Returns the child's command line as arguments of `run` or `wait`. */
export function commandLine(
  words: readonly string[],
  wordsAt: number | undefined,
): Pick<Translation, "args" | "argsAt"> {
  return { args: ["--", ...words], argsAt: wordsAt === undefined ? undefined : wordsAt - 1 };
}

/** Returns all arguments as the child's command line, with or without `--`: for a tool that takes no flags. */
export function wholeCommandLine(args: readonly string[]): Pick<Translation, "args" | "argsAt"> {
  return args[0] === "--" ? commandLine(args.slice(1), 1) : commandLine(args, 0);
}

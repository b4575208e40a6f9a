import { type Syntax, unexpected } from "../shared/cli/core/syntax.ts";
import type { CompatSettings, Found, ToolWarning } from "../shared/cli/core/values.ts";
import type { Environment } from "../shared/core/environment.ts";

/** Another tool in whose name ebb can be started: as its file's name, or as `ebb NAME`. */
export interface CompatTool {
  /** What follows the tool's name on its usage line. */
  readonly usage: string;
  /** One sentence that says what a call does, in ebb's words. */
  readonly about: string;
  /** The tool's variables and flags that ebb reads, in the order of the tool's documentation. */
  readonly takes: readonly string[];
  /**
   * Translates a call of the tool into a call of ebb. Never throws: what is wrong with the call is in `compat.problems`.
   */
  readonly translate: (args: readonly string[], env: Environment) => Translation;
}

/** A tool's call as a call of ebb. */
export interface Translation {
  readonly command: "run" | "wait" | "quit" | "request";
  readonly args: readonly string[];
  /**
   * The index at which `args` starts among the tool's arguments, as if its `--` stood there: -1 if the command line is
   * all of them. Undefined if the command line is not the end of them.
   */
  readonly argsAt: number | undefined;
  readonly compat: CompatSettings;
  /** Whether the tool was asked for its help. */
  readonly isHelp?: true;
}

/**
 * Returns a command line, which starts at `wordsAt` among the tool's arguments, as arguments of `ebb run` or `ebb
 * wait`.
 */
export function commandLine(
  words: readonly string[],
  wordsAt: number | undefined,
): Pick<Translation, "args" | "argsAt"> {
  return { args: ["--", ...words], argsAt: wordsAt === undefined ? undefined : wordsAt - 1 };
}

/** Returns all arguments, without a `--` before them, as the child's command line: for a tool that takes no flags. */
export function wholeCommandLine(args: readonly string[]): Pick<Translation, "args" | "argsAt"> {
  return args[0] === "--" ? commandLine(args.slice(1), 1) : commandLine(args, 0);
}

/** Builds ebb's settings from another tool's variables and flags. */
export class SettingsBuilder {
  readonly #values = new Map<string, Found[]>();
  readonly #problems: string[] = [];
  readonly #notes: ToolWarning[] = [];

  /** All that was added so far. It grows with each call. */
  readonly compat: CompatSettings = { values: this.#values, problems: this.#problems, notes: this.#notes };

  /**
   * Adds values to the option with this flag, as texts that the flag would take. `origin` is the tool's variable or
   * flag that gave them.
   */
  add(flag: string, origin: string, ...texts: readonly string[]): void {
    const found = this.#values.get(flag) ?? [];
    this.#values.set(flag, [...found, ...texts.map((text) => ({ origin, text }))]);
  }

  /** Reports whether a value is what the syntax expects. If it is not, refuses it. */
  check({ origin, text }: Found, { parse, expected, shown }: Syntax<unknown>): boolean {
    const isExpected = parse(text) !== undefined;
    if (!isExpected) this.refuse(unexpected(origin, expected, text, shown));
    return isExpected;
  }

  refuse(problem: string): void {
    this.#problems.push(problem);
  }

  note(note: ToolWarning): void {
    this.#notes.push(note);
  }
}

import { unexpected } from "../shared/cli/core/syntax.ts";
import type { Found } from "../shared/cli/core/values.ts";

/** A flag of another tool. */
export interface ToolFlag {
  /** Written `--name`, or `-name` if there is no `short`, as Go's flags are. */
  readonly name: string;
  /** One character, written `-s`. */
  readonly short?: string;
  /** Whether it must have a value (`needed`), or may have one that follows `=`. Without this it has none. */
  readonly value?: "needed" | "after =";
}

/** The arguments of another tool. */
export interface ToolCall {
  /**
   * The flags that were given, by name: the last value of each (`true` if there is none), and how the flag was written.
   */
  readonly flags: ReadonlyMap<string, Found>;
  /** The arguments that are no flags, without `--`. */
  readonly words: readonly string[];
  /** The index of the first word among the arguments; undefined if there are flags between or after the words. */
  readonly wordsAt: number | undefined;
  readonly problems: readonly string[];
}

type GivenFlag = { readonly flag: ToolFlag; readonly origin: string; readonly value: string | undefined };

/**
 * Parses flags before and among the words, up to `--`, as clap and cobra do. Never throws: what is wrong is in
 * `problems`.
 */
export function parseToolFlags(args: readonly string[], all: readonly ToolFlag[]): ToolCall {
  const flags = new Map<string, Found>();
  const problems: string[] = [];
  const places: number[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    if (arg === "--") {
      for (let rest = at + 1; rest < args.length; rest += 1) places.push(rest);
      break;
    }
    if (!arg.startsWith("-") || arg === "-") {
      places.push(at);
      continue;
    }
    for (const given of readFlags(arg, all, problems)) {
      const { flag, origin } = given;
      const value = given.value ?? (flag.value === "needed" ? args[++at] : "true");
      if (value === undefined) problems.push(`${origin}: expected a value`);
      else if (flag.value === undefined && given.value !== undefined)
        problems.push(unexpected(origin, "no value", value));
      else flags.set(flag.name, { origin, text: value });
    }
  }
  const words = places.map((place) => args[place] as string);
  // whether they are in one piece up to the end, as a command line is
  const isWhole = places.every((place, index) => place === args.length - places.length + index);
  return { flags, words, wordsAt: isWhole ? places[0] : undefined, problems };
}

/**
 * Parses one argument: `--name`, `--name=value`, `-s`, `-svalue`, `-s=value` or `-abc`. Adds a problem if it is
 * unknown.
 */
function readFlags(arg: string, all: readonly ToolFlag[], problems: string[]): readonly GivenFlag[] {
  const [, name, , inline] = /^--?([^=]+)(=([\s\S]*))?$/.exec(arg) ?? [];
  const long = all.find((flag) => flag.name === name && (arg.startsWith("--") || flag.short === undefined));
  if (long !== undefined) return [{ flag: long, origin: `--${long.name}`, value: inline }];
  const found: GivenFlag[] = [];
  for (let rest = arg.startsWith("--") ? "" : arg.slice(1); rest !== ""; ) {
    const flag = all.find(({ short }) => short === rest[0]);
    if (flag === undefined) break;
    const value = rest.slice(1).replace(/^=/, "");
    const hasValue = rest.length > 1 && (flag.value !== undefined || rest[1] === "=");
    found.push({ flag, origin: `-${flag.short}`, value: hasValue ? value : undefined });
    if (hasValue || rest.length === 1) return found;
    rest = rest.slice(1);
  }
  problems.push(`unknown flag ${arg.split("=", 1)[0]}; a flag of the command goes after --`);
  return [];
}

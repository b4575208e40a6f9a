import { unexpected } from "../core/cli/syntax.ts";
import type { Found } from "../core/cli/values.ts";
import type { FailureText } from "../core/messages/failure-text.ts";

/** A flag of a tool: `--name`, `-name` where its library is Go's, `-short`; with a value, or with one that may follow `=`. */
export interface ToolFlag {
  readonly name: string;
  readonly short?: string;
  readonly value?: "needed" | "after =";
}

export interface ToolCall {
  /** The last value of each flag that is there, and how it was written; of a flag without a value `true`. */
  readonly flags: ReadonlyMap<string, Found>;
  readonly words: readonly string[];
  /** Where `words` starts among the arguments; undefined: something else stands between or behind them. */
  readonly wordsAt: number | undefined;
  readonly problems: readonly FailureText[];
}

type Given = { readonly flag: ToolFlag; readonly origin: string; readonly value: string | undefined };

/** Parses flags before and among the words, up to `--`, as clap and cobra do. */
export function parseToolFlags(args: readonly string[], known: readonly ToolFlag[]): ToolCall {
  const flags = new Map<string, Found>();
  const problems: FailureText[] = [];
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
    for (const given of readFlags(arg, known, problems)) {
      const { flag, origin } = given;
      const value = given.value ?? (flag.value === "needed" ? args[++at] : "true");
      if (value === undefined) problems.push(`${origin}: expected a value`);
      else if (flag.value === undefined && given.value !== undefined)
        problems.push(unexpected(origin, "no value", value));
      else flags.set(flag.name, { origin, text: value });
    }
  }
  const words = places.map((place) => args[place] as string);
  // in one piece, and up to the end: as a command line is
  const isWhole = places.every((place, index) => place === args.length - places.length + index);
  return { flags, words, wordsAt: isWhole ? places[0] : undefined, problems };
}

/** `--name`, `--name=value`, `-s`, `-svalue`, `-s=value`, `-abc`. */
function readFlags(arg: string, known: readonly ToolFlag[], problems: FailureText[]): readonly Given[] {
  const [, name, , inline] = /^--?([^=]+)(=([\s\S]*))?$/.exec(arg) ?? [];
  const long = known.find((flag) => flag.name === name && (arg.startsWith("--") || flag.short === undefined));
  if (long !== undefined) return [{ flag: long, origin: `--${long.name}`, value: inline }];
  const found: Given[] = [];
  for (let rest = arg.startsWith("--") ? "" : arg.slice(1); rest !== ""; ) {
    const flag = known.find(({ short }) => short === rest[0]);
    if (flag === undefined) break;
    const value = rest.slice(1).replace(/^=/, "");
    const hasValue = rest.length > 1 && (flag.value !== undefined || rest[1] === "=");
    found.push({ flag, origin: `-${flag.short}`, value: hasValue ? value : undefined });
    if (hasValue || rest.length === 1) return found;
    rest = rest.slice(1);
  }
  problems.push(`unknown flag ${arg.split("=", 1)[0]}; a flag of the command stands after --`);
  return [];
}

import { HIDDEN } from "../../core/redact.ts";
import { aboutFlags } from "./names.ts";
import type { Option, Options } from "./option.ts";
import { nearest } from "./suggestion.ts";

/** A command's arguments, taken apart but not yet parsed. */
export interface Arguments {
  /**
   * The values of each flag that was given, in order, by the flag's name without dashes. `--switch` has the value
   * `true`.
   */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** The operands among the flags; empty unless `mayMix`. */
  readonly operands: readonly string[];
  /** How many arguments were read, `--` included. What follows is the child's command line. */
  readonly length: number;
  /** A text for each unknown flag, and for each flag whose value is missing. */
  readonly problems: readonly string[];
  /** The names of the unknown flags, without dashes. */
  readonly unknown: readonly string[];
}

/** Thrown if `--help` or `-h`, the short one, stands among the flags: then nothing else of the call matters. */
export class HelpAsked extends Error {
  readonly isShort: boolean;

  constructor(isShort: boolean) {
    super();
    this.isShort = isShort;
  }
}

/**
 * Reads flags (`--name value`, `--name=value`, `--switch`) up to `--` or, unless `mayMix`, up to the first operand.
 * Returns what is wrong as `problems`.
 * @throws HelpAsked if `--help` or `-h` is among the flags
 *
 * Not node:util's parseArgs, which cannot stop at the first operand and costs each pod's start 1.1 ms (measured).
 */
export function parseArguments(args: readonly string[], options: Options, mayMix = false): Arguments {
  const all = Object.values(options);
  const flags = new Map<string, string[]>();
  const problems: string[] = [];
  const unknown: string[] = [];
  const operands: string[] = [];
  let at = 0;
  while (at < args.length) {
    const arg = args[at] as string;
    if (arg === "--") return { flags, operands, length: at + 1, problems, unknown };
    // no flag begins with a digit: -1 is a bad operand
    const isOperand = !arg.startsWith("-") || arg === "-" || (mayMix && /^-\d/.test(arg));
    if (isOperand && !mayMix) break;
    at += 1;
    if (isOperand) {
      operands.push(arg);
      continue;
    }
    const { dashes, name, inline } = splitFlag(arg);
    const option = dashes === "--" ? optionOf(name, all) : undefined;
    if (option === undefined) {
      if (arg === "--help" || arg === "-h") throw new HelpAsked(arg === "-h");
      problems.push(`unknown flag ${dashes}${unknownName(name, all)}`);
      unknown.push(name);
      if (inline === undefined && hasValue(args, at)) at += 1;
      continue;
    }
    const isSwitch = option.value === undefined;
    const value = inline ?? (isSwitch ? "true" : args[at]);
    if (inline === undefined && !isSwitch) at += 1;
    if (value === undefined) problems.push(`--${name}: expected a value (${option.value}): ${option.syntax.expected}`);
    else flags.set(option.flag, [...(flags.get(option.flag) ?? []), value]);
  }
  return { flags, operands, length: at, problems, unknown };
}

/** Splits `--name=value` into its parts; `inline` is the value after `=`. */
function splitFlag(arg: string): { readonly dashes: string; readonly name: string; readonly inline?: string } {
  const dashes = arg.startsWith("--") ? "--" : "-";
  const equals = arg.indexOf("=");
  if (equals < 0) return { dashes, name: arg.slice(dashes.length) };
  return { dashes, name: arg.slice(dashes.length, equals), inline: arg.slice(equals + 1) };
}

/**
 * Reports whether the word after an unknown flag is taken for its value, so that problems of later flags are found,
 * too.
 */
function hasValue(args: readonly string[], at: number): boolean {
  return args[at]?.startsWith("-") === false && args.includes("--", at);
}

function optionOf(name: string, all: readonly Option<unknown>[]): Option<unknown> | undefined {
  for (const option of all) if (option.flag === name) return option;
  return undefined;
}

/** What the flags of curl, dockerize, kubectl, linkerd-await and tini are here, for commands that have the flag named first. */
const othersFlags: Readonly<Record<string, readonly [flag: string, hint: string]>> = {
  X: ["body", "the method is the first word: ebb request POST URL"],
  d: ["body", "did you mean --body?"],
  H: ["header", "did you mean --header?"],
  m: ["timeout", "did you mean --timeout?"],
  t: ["wait-timeout", "did you mean --wait-timeout?"],
  timeout: ["wait-timeout", "did you mean --wait-timeout?"],
  wait: ["no-wait", "did you mean --wait-timeout D, or --ready URL?"],
  verbose: ["log-level", "did you mean --log-level debug?"],
  debug: ["log-level", "did you mean --log-level debug?"],
  v: ["log-level", "did you mean --log-level debug, or ebb --version?"],
  e: ["expect-exit", "see ebb help init"],
  g: ["signal-group", "see ebb help init"],
  p: ["parent-death", "see ebb help init"],
  s: ["parent-death", "see ebb help init"],
};

/**
 * Returns the name of an unknown flag, with `; did you mean --quit?` if a flag is near. What follows a blank in it is
 * `***`: a value, which may be secret.
 */
function unknownName(name: string, all: readonly Option<unknown>[]): string {
  const [flag = "", ...rest] = name.split(/\s/);
  if (rest.length > 0 && optionOf(flag, all) !== undefined)
    return `${flag} ${HIDDEN}; the flag and its value are one word: write --${flag}=VALUE`;
  const flags = all.map((option) => option.flag);
  const [needed = "", hint] = Object.hasOwn(othersFlags, name) ? (othersFlags[name] ?? []) : [];
  if (flags.includes(needed)) return `${name}; ${hint}`;
  const near = nearest(flag, flags);
  const shown = rest.length > 0 ? `${flag} ${HIDDEN}` : flag;
  if (near !== undefined) return `${shown}; did you mean --${near}?`;
  const about = flag === "v" ? "version" : nearest(flag, aboutFlags);
  return about === undefined ? shown : `${shown}; did you mean ebb --${about}?`;
}

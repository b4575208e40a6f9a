import { aboutFlags, ownWords, pluginCall, pluginNames, toolNames } from "./names.ts";
import { nearest } from "./suggestion.ts";
import type { CompatSettings } from "./values.ts";

/** What a command line asks for. */
export type Resolution =
  | NamedCommand
  | Tool
  /** `name` is that of a command or another tool; undefined for `ebb --help`. `isShort`: it is `ebb -h NAME`. */
  | { readonly kind: "help"; readonly name: string | undefined; readonly isShort?: boolean }
  | { readonly kind: "page"; readonly topic: string | undefined }
  | { readonly kind: "version"; readonly format: string | undefined }
  | { readonly kind: "licenses" }
  /** The executable is a plugin of kubectl; `completes`: kubectl asks what can stand in the place of the last word. */
  | { readonly kind: "plugin"; readonly completes: boolean; readonly words: readonly string[] }
  /** A shell asks what can stand in the place of the last of these words. */
  | { readonly kind: "completion"; readonly words: readonly string[] }
  /** The first word is neither a command nor a program. `near` is the call that was meant (`ebb drain`), if any. */
  | { readonly kind: "unknown"; readonly word: string; readonly near: string | undefined };

/** A call of one of ebb's commands. */
export interface NamedCommand {
  readonly kind: "command";
  readonly name: string;
  /** The words after the command's name. */
  readonly args: readonly string[];
  /**
   * The index of `args` in the words after the executable's name; undefined if they do not stand there in this order.
   */
  readonly at?: number | undefined;
  /** The settings that come from another tool's call, if it was that. */
  readonly compat?: CompatSettings | undefined;
}

/** A call in the name of another tool. */
export interface Tool {
  readonly kind: "tool";
  readonly name: string;
  /** The tool's arguments. */
  readonly args: readonly string[];
  /** The index of `args` in the words after the executable's name. */
  readonly at: number;
}

/** What decides the meaning of a command line besides its words. */
export interface Surroundings {
  /** The name by which the executable was called, without its folder. */
  readonly calledBy: string;
  /** Reports whether a program of this name is in PATH. */
  readonly isProgram: (name: string) => boolean;
  /**
   * Reports whether ebb runs in a container, not at a desk. There `run` tells the sidecars to quit, even if its program
   * is not found.
   */
  readonly isContainer: () => boolean;
}

/**
 * Decides what a command line asks for: a command, another tool by name, help, a page of the manual, the version or the licences.
 * If the first word is none of ebb's, it is `run` with all words; unless there is no such program, and it is like a
 * command's name, or outside a container stands alone or is a command of the plugin.
 */
export function resolveCommand(
  words: readonly string[],
  { calledBy, isProgram, isContainer }: Surroundings,
): Resolution {
  const [first, ...rest] = words;
  if (toolNames.includes(calledBy)) return resolveTool(calledBy, words, 0);
  const isPlugin = calledBy === pluginNames.plugin && first !== "--version" && first !== "version";
  const completes = calledBy === pluginNames.completion;
  if (isPlugin || completes) return { kind: "plugin", completes, words };
  if (first === undefined) return { kind: "help", name: undefined };
  if (first === "__complete") return { kind: "completion", words: rest };
  if (toolNames.includes(first)) return resolveTool(first, rest, 1);
  const about = resolveAbout(first, rest[0]) ?? (words.join(" ") === "-v" ? resolveAbout("-V", undefined) : undefined);
  if (about !== undefined) return about;
  if (ownWords.includes(first)) return { kind: "command", name: first, args: rest, at: 1 };
  const run = { kind: "command", name: "run", args: words, at: 0 } as const;
  if (first.startsWith("-") || first.includes("/")) return run;
  if (first === "version" && !isProgram(first)) return { kind: "version", format: rest[0] };
  const near = nearest(first, ownWords);
  const flag = nearest(first, aboutFlags);
  const slip = near ?? (flag === undefined ? undefined : `--${flag}`);
  const call = slip === undefined ? pluginCall(first) : `ebb ${slip}`;
  if (slip === undefined && ((call === undefined && rest.length > 0) || isContainer())) return run;
  return isProgram(first) ? run : { kind: "unknown", word: first, near: call };
}

function resolveTool(name: string, args: readonly string[], at: number): Resolution {
  const about = args.length === 1 ? resolveAbout(args[0] as string, name) : undefined;
  return about !== undefined && about.kind !== "page" ? about : { kind: "tool", name, args, at };
}

function resolveAbout(word: string, next: string | undefined): Resolution | undefined {
  if (word === "help") return { kind: "page", topic: next };
  if (word === "-h" || word === "--help") return { kind: "help", name: next, isShort: word === "-h" };
  if (word === "-V" || word === "--version") return { kind: "version", format: next };
  return word === "--licenses" ? { kind: "licenses" } : undefined;
}

import { redactUrls } from "../../core/redact.ts";
import { aboutFlags, ownWords, pluginCall, pluginNames, toolNames } from "./names.ts";
import { nearest } from "./suggestion.ts";
import type { CompatSettings } from "./values.ts";

/** What a command line asks for. */
export type Resolution =
  | NamedCommand
  | Tool
  | PluginWords
  /** `name` is that of a command or another tool; undefined for `ebb --help`. `isShort`: it is `ebb -h NAME`. */
  | { readonly kind: "help"; readonly name: string | undefined; readonly isShort?: boolean }
  | { readonly kind: "page"; readonly topic: string | undefined }
  | { readonly kind: "version"; readonly format: string | undefined }
  | { readonly kind: "licenses" }
  /** A shell asks what can stand in the place of the last of these words. */
  | { readonly kind: "completion"; readonly words: readonly string[] }
  /** The first word is no command. */
  | { readonly kind: "unnamed"; readonly reason: string };

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

/** A call of the executable as a plugin of kubectl. */
export interface PluginWords {
  readonly kind: "plugin";
  /** Whether kubectl asks what can stand in the place of the last word. */
  readonly completes: boolean;
  readonly words: readonly string[];
}

/**
 * Decides what a command line asks for: a command, another tool by name, help, a page of the manual, the version or the
 * licences. `calledBy` is the name by which the executable was called, without its folder; `here`: the commands that
 * work here, which it proposes.
 */
export function resolveCommand(words: readonly string[], calledBy: string, here = ownWords): Resolution {
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
  if (first === "version") return { kind: "version", format: rest[0] };
  return { kind: "unnamed", reason: first.startsWith("-") ? flagFirst(first, rest, here) : noCommand(first, here) };
}

/** Returns what is wrong with a call that begins with a flag, and what to write. Shows no value, which may be secret. */
function flagFirst(first: string, rest: readonly string[], here: readonly string[]): string {
  const flag = first.replace(/[=\s].*$/s, "");
  const about = flag === "--" ? undefined : nearest(flag.replace(/^-+/, ""), aboutFlags);
  const end = rest.indexOf("--");
  const named = rest.slice(0, end < 0 ? undefined : end).find((word) => here.includes(word));
  const name = named ?? (here.includes("run") ? undefined : "COMMAND");
  const call = about === undefined ? `${name ?? "run"} ${flag}` : `--${about}`;
  const more = about !== undefined ? "" : flag === "--" ? " CMD" : name === undefined ? " ... -- CMD" : " ...";
  return `${flag}: a command comes first: write ebb ${call}${more}`;
}

/** Returns what is wrong with a call whose first word is no command, and what to write. */
function noCommand(first: string, here: readonly string[]): string {
  const word = redactUrls(first) || "''";
  const near = nearest(word, here);
  const flag = nearest(word, aboutFlags);
  const meant = near ?? (flag === undefined ? undefined : `--${flag}`);
  const call = meant === undefined ? pluginCall(word) : `ebb ${meant}`;
  const hint = call === undefined ? "" : `; did you mean "${call}"?`;
  return `${word}: no such command${hint}${here.includes("run") ? ` (to run a program: ebb run -- ${word})` : ""}`;
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

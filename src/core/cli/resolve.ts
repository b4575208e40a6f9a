import { commandNames, toolNames } from "./names.ts";
import { nearest } from "./suggestion.ts";
import type { ForeignSettings } from "./values.ts";

/** What ebb was called for. `at`: where `args` starts in the words that follow the executable's name. */
export type Resolution =
  | NamedCommand
  | Tool
  /** `name`: of a command or another tool. */
  | { readonly kind: "help"; readonly name: string | undefined }
  | { readonly kind: "manual"; readonly topic: string | undefined }
  | { readonly kind: "version"; readonly format: string | undefined }
  | { readonly kind: "licenses" }
  /** No command line to run: nothing would be found. `near`: the command that may have been meant. */
  | { readonly kind: "unknown"; readonly word: string; readonly near: string | undefined };

export interface NamedCommand {
  readonly kind: "command";
  readonly name: string;
  readonly args: readonly string[];
  /** undefined: they do not stand there in this order. */
  readonly at?: number | undefined;
  /** What another tool's call says beyond its words. */
  readonly said?: ForeignSettings | undefined;
}

/** In another tool's name. */
export interface Tool {
  readonly kind: "tool";
  readonly name: string;
  readonly args: readonly string[];
  readonly at: number;
}

/** What counts besides the words. */
export interface Place {
  /** The name that the executable was called by, without its folder. */
  readonly calledBy: string;
  /** Whether a program of this name is in PATH. */
  readonly isProgram: (name: string) => boolean;
  /** Of a container: there `run` tells the sidecars to quit, also where its program is not found. */
  readonly isContainer: () => boolean;
}

/**
 * Decides what a command line asks for: a command (`run` where none is named), another tool by name, help, the manual, the
 * version.
 */
export function resolveCommand(words: readonly string[], place: Place): Resolution {
  const [first, ...rest] = words;
  if (toolNames.includes(place.calledBy)) return resolveTool(place.calledBy, words, 0);
  if (first === undefined) return { kind: "help", name: undefined };
  if (toolNames.includes(first)) return resolveTool(first, rest, 1);
  const about = resolveAbout(first, rest[0]);
  if (about !== undefined) return about;
  if (commandNames.includes(first)) return { kind: "command", name: first, args: rest, at: 1 };
  const run = { kind: "command", name: "run", args: words, at: 0 } as const;
  if (first.startsWith("-") || first.includes("/")) return run;
  const near = nearest(first, commandNames);
  if (near === undefined && (rest.length > 0 || place.isContainer())) return run;
  return place.isProgram(first) ? run : { kind: "unknown", word: first, near };
}

function resolveTool(name: string, args: readonly string[], at: number): Resolution {
  const about = args.length === 1 ? resolveAbout(args[0] as string, name) : undefined;
  return about !== undefined && about.kind !== "manual" ? about : { kind: "tool", name, args, at };
}

function resolveAbout(word: string, next: string | undefined): Resolution | undefined {
  if (word === "help") return { kind: "manual", topic: next };
  if (word === "-h" || word === "--help") return { kind: "help", name: next };
  if (word === "-V" || word === "--version") return { kind: "version", format: next };
  return word === "--licenses" ? { kind: "licenses" } : undefined;
}

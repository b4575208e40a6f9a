import type { Option, Options } from "../option.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import type { AboutFlag, Choice, CompletedCommand, CompletedFlag, Operands } from "./spec.ts";
import { zshScript } from "./zsh.ts";

interface Completable {
  readonly summary: string;
  readonly options: Options;
  readonly operands?: Operands;
}

const aboutFlags: readonly AboutFlag[] = [
  { flag: "version", help: "print the version", followers: ["json"] },
  { flag: "licenses", help: "print the licences of what is inside ebb", followers: [] },
];

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof scripts;

/**
 * Returns the script that completes ebb's command lines in a shell. If no command is named, it completes those of
 * `run`.
 */
export function completionScript(shell: Shell, commands: Readonly<Record<string, Completable>>): string {
  const all = Object.entries(commands).map(([name, command]) => completed(name, command));
  const words = all.map(({ name }) => name);
  const help = {
    name: "help",
    summary: "tell all of a command",
    flags: [],
    operands: { kind: "words", words },
  } as const;
  return scripts[shell]([...all, help], aboutFlags);
}

function completed(name: string, { summary, options, operands }: Completable): CompletedCommand {
  return { name, summary, flags: Object.values(options).map(completedFlag), operands: choiceOf(operands) };
}

function choiceOf(operands: Operands | undefined): Choice {
  if (operands === "files") return { kind: "files" };
  return operands === undefined ? { kind: "anything" } : { kind: "words", words: operands };
}

function completedFlag({ flag, help, value, syntax, repeatable }: Option<unknown>): CompletedFlag {
  const base = { flag, help, value, repeatable };
  if (value === "PATH") return { ...base, choice: { kind: "files" } };
  if (syntax.words === undefined || value === undefined) return { ...base, choice: { kind: "anything" } };
  return { ...base, choice: { kind: value.includes("[,") ? "list" : "words", words: syntax.words } };
}

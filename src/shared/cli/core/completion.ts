import type { CommandHelp } from "./help.ts";
import type { Option } from "./option.ts";

/** The operands of a command that completion proposes: these words, files, or (kubectl ebb) the names of pods. */
export type Operands = readonly string[] | "files" | "pods";

interface Completable extends Pick<CommandHelp, "summary" | "options"> {
  readonly operands?: Operands;
}

type Candidate = readonly [word: string, help: string];

const help: Candidate = ["help", "show all flags of a command"];

/** The flags in the place of a command. */
const aboutFlags: readonly Candidate[] = [
  ["--help", "list the commands"],
  ["--version", "print the version"],
  ["--licenses", "print the licences of the software inside ebb"],
];

/**
 * Answers `ebb __complete WORD...`, which the scripts of `ebb completion` call: what can stand in the place of the last
 * word. The first line tells the shell what to do: propose the lines below (`words`, or `list` without a blank after
 * them), each a word, a tab and its help; propose `files`; or complete the command line that is left without its first
 * N words (`child N`, ebb's name counted). Names of the cluster only kubectl's plugin proposes: `pods`, `namespaces` and
 * `contexts`, with what stands before the name in the last word.
 */
export function complete(words: readonly string[], commands: Readonly<Record<string, Completable>>): string {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const names = Object.entries(commands).map(([name, { summary }]): Candidate => [name, summary]);
  const [first] = before;
  if (first === undefined) return propose(current.startsWith("-") ? aboutFlags : [...names, help], current);
  if (first === "help") return propose(names, current);
  if (first === "--version") return propose([["--json", "with build details"]], current);
  if (!Object.hasOwn(commands, first)) return propose([], current);
  const { options, operands } = commands[first] as Completable;
  const all = Object.values(options);
  const isRun = first === "run";
  const { childAt, pending } = readWords(words, isRun, all);
  if (childAt !== undefined) return `child ${childAt + 1}\n`;
  if (pending !== undefined) return proposeValue(pending, current.replace(/^=/, ""));
  const [, flag, value] = /^--([^=]+)=(.*)$/s.exec(current) ?? [];
  const inline = all.find((option) => option.flag === flag);
  if (inline !== undefined) return proposeValue(inline, value ?? "", `--${flag}=`);
  if (current.startsWith("-")) {
    const flags = all.map((option): Candidate => [`--${option.flag}`, option.help]);
    return propose([...flags, ["--help", "show all flags of this command"]], current);
  }
  if (isRun) return `child ${words.length}\n`;
  return typeof operands === "string" ? `${operands}\n` : propose((operands ?? []).map(bare), current);
}

/**
 * Reads the words before the last. Returns the index at which the child's command line begins, if it does; or the
 * option whose value the last word is. bash makes three words of `--flag=value`.
 */
function readWords(words: readonly string[], isRun: boolean, all: readonly Option<unknown>[]) {
  let pending: Option<unknown> | undefined;
  for (let at = 1; at < words.length - 1; at++) {
    const word = words[at] as string;
    if (pending !== undefined) {
      if (word !== "=") pending = undefined;
    } else if (word === "--") return { childAt: at + 1 };
    else if (word.startsWith("-")) {
      const isSplit = words[at + 1] === "=";
      pending = all.find(({ flag, value }) => word === `--${flag}` && (value !== undefined || isSplit));
    } else if (isRun) return { childAt: at };
  }
  return { pending };
}

/** The options whose values are names of the cluster. */
const named: Readonly<Record<string, string>> = { namespace: "namespaces", context: "contexts" };

function proposeValue({ flag, value, syntax }: Option<unknown>, typed: string, prefix = ""): string {
  if (value === "PATH") return "files\n";
  if (Object.hasOwn(named, flag)) return `${named[flag]} ${prefix}${typed.slice(0, typed.lastIndexOf(",") + 1)}\n`;
  const words = value === undefined ? [] : (syntax.words ?? []);
  if (value?.includes("[,") !== true) return propose(words.map(bare), typed, prefix);
  const done = typed.slice(0, typed.lastIndexOf(",") + 1);
  return propose(words.map(bare), typed.slice(done.length), `${prefix}${done}`, "list");
}

function bare(word: string): Candidate {
  return [word, ""];
}

function propose(candidates: readonly Candidate[], typed: string, prefix = "", kind = "words"): string {
  const good = candidates.filter(([word]) => word.startsWith(typed));
  return `${kind}\n${good.map(([word, help]) => `${prefix}${word}\t${help}\n`).join("")}`;
}

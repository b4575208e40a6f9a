import { type Arguments, parseArguments } from "../../../shared/cli/core/arguments.ts";
import { complete, type Operands } from "../../../shared/cli/core/completion.ts";
import type { CommandHelp } from "../../../shared/cli/core/help.ts";
import { expandShortFlags, kubectlShort } from "../../../shared/cli/core/short-flags.ts";
import type { ClusterSettings } from "./options.ts";

/** What can stand in the place of the last word: lines for kubectl, or names that only the cluster knows. */
export type Completion =
  | { readonly kind: "lines"; readonly text: string }
  | ({
      readonly kind: "pods" | "namespaces" | "contexts";
      /** What the names begin with. */
      readonly typed: string;
      /** What stands before each of them in the word. */
      readonly prefix: string;
    } & ClusterSettings);

interface Completable extends Pick<CommandHelp, "summary" | "options"> {
  readonly operands?: Operands;
}

/** Cobra's directives, one of which is the last line: how the shell goes on (spf13/cobra completions.go). */
const directives: Readonly<Record<string, string>> = { words: ":4", list: ":6", files: ":0" };
const about = "words\n--help\tshow the commands of the plugin\n--version\tprint the version\n";

/**
 * Answers `kubectl_complete-ebb WORD...`, by which kubectl asks what can stand in the place of the last word
 * (k8s.io/kubectl pkg/cmd/plugin/plugin_completion.go).
 */
export function completionOf(words: readonly string[], commands: Readonly<Record<string, Completable>>): Completion {
  const current = words.at(-1) ?? "";
  const [name, ...given] = expandShortFlags(words.slice(0, -1), kubectlShort);
  if (name === undefined && current.startsWith("-")) return linesOf(about, current);
  if (name !== undefined && !Object.hasOwn(commands, name)) return linesOf("words\n", current);
  const text = complete(name === undefined ? [current] : [name, ...given, current], commands);
  const [, kind = "", before = ""] = /^(pods|namespaces|contexts) ?(.*)\n/.exec(text) ?? [];
  if (kind === "") return linesOf(text, "");
  const { operands, settings } = read(() => parseArguments(given, commands[name ?? ""]?.options ?? {}, true));
  if (kind === "pods" && operands > 0) return linesOf("words\n", current);
  const prefix = kind === "pods" ? (/^(?:po|pods?)\//.exec(current)?.[0] ?? "") : before;
  return { kind: kind as "pods", typed: current.slice(prefix.length), prefix, ...settings };
}

/** Returns the lines by which a completion proposes names to kubectl. */
export function nameLines(names: readonly string[], typed: string, prefix: string): string {
  const good = names.filter((name) => name.startsWith(typed)).sort();
  return [...good.map((name) => prefix + name), directives.words].map((line) => `${line}\n`).join("");
}

function linesOf(answer: string, typed: string): Completion {
  const [kind = "", ...candidates] = answer.trimEnd().split("\n");
  const good = candidates.filter((line) => line.startsWith(typed)).map((line) => line.trimEnd());
  return { kind: "lines", text: [...good, directives[kind] ?? ":4"].map((line) => `${line}\n`).join("") };
}

function read(parse: () => Arguments): { readonly operands: number; readonly settings: ClusterSettings } {
  try {
    const { flags, operands } = parse();
    const last = (flag: string) => flags.get(flag)?.at(-1);
    const settings = { namespace: last("namespace"), kubeconfig: last("kubeconfig"), context: last("context") };
    return { operands: operands.length, settings };
  } catch {
    return { operands: 1, settings: { namespace: undefined, kubeconfig: undefined, context: undefined } }; // --help: nothing follows
  }
}

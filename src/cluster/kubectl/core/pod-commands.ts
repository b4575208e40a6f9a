import type { Operands } from "../../../shared/cli/core/completion.ts";
import { type CommandHelp, type Look, titledList } from "../../../shared/cli/core/help.ts";
import { podOptions } from "./options.ts";

/** What the plugin knows of a command of its own, or of ebb's. */
export interface PluginHelp extends CommandHelp {
  readonly operands?: Operands;
}

/** Returns the text of `kubectl ebb --help`. `plugin` is what users type. */
export function listPluginCommands(plugin: string, commands: Readonly<Record<string, PluginHelp>>, look: Look): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary] as const);
  return `${plugin}: look at pods with a sidecar

${look.heading("usage:")} ${plugin} COMMAND [flags]

${titledList("commands", rows, look)}
${plugin} COMMAND -h        the common flags of a command
${plugin} COMMAND --help    all flags, examples and exit codes of a command
${plugin} help [TOPIC]      a page of the manual; without TOPIC, the plugin's page
`;
}

const badCall = ["64", "an unknown flag, a bad value, no kubeconfig, or no such pod"] as const;
const more = { page: "kubectl", seeAlso: [], operands: "pods" } as const;

/** The help of the plugin's commands that are about pods. */
export const podCommands: Readonly<Record<keyof typeof podOptions, PluginHelp>> = {
  status: {
    ...more,
    summary: "show the state of a pod and its sidecars, or a table of pods",
    usage: "status [POD] [flags]",
    about:
      "Shows what the API server knows about a pod, and what the ebb in it sees. Without POD, prints a table of pods.",
    examples: [{ call: "kubectl ebb status -A", why: "Which pods have a sidecar, which have ebb, which are stuck." }],
    exits: [["0", "done"], badCall, ["69", "the API server does not answer, or refuses"]],
    options: podOptions.status,
  },
  why: {
    ...more,
    summary: "explain why a pod is stuck and what ends it; --end ends it",
    usage: "why POD [flags]",
    about:
      "Applies the reaper's rules to one pod: shows what each container is, what keeps the pod running, and what ends its sidecars.",
    examples: [{ call: "kubectl ebb why job-x7k2p --end", why: "Ends its sidecars if it is stuck." }],
    exits: [
      ["0", "not stuck; with --end: nothing is left to do"],
      ["1", "stuck"],
      badCall,
      ["69", "the API server does not answer, or refuses; with --end: a sidecar did not exit"],
    ],
    options: podOptions.why,
  },
};

/** The help of `reap` that is not `ebb reaper`'s. */
export const reapHelp = {
  page: "reaper",
  usage: "reap [flags]",
  summary: "shut down the sidecars of all stuck pods, once",
  about:
    "Shuts down the sidecars of the stuck pods in a namespace, or in all with -A, and prints what was done with each pod.",
  examples: [
    {
      call: "kubectl ebb reap --all-jobs --dry-run",
      why: "Which pods of the namespace are stuck, and what would be done.",
    },
    { call: "kubectl ebb reap -n shop -l team=a", why: "Only pods with this label." },
  ],
} as const;

/** The help of `doctor` that is not `ebb doctor`'s. */
export const doctorHelp = {
  examples: [{ call: "kubectl ebb doctor -A", why: "The whole cluster; without -A, only the namespace." }],
} as const;

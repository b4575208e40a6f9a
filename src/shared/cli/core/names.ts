/** The names of the commands that only work in a Linux container; a desk build refuses them. */
const containerCommands = [
  "run",
  "wait",
  "sleep",
  "drain",
  "hold",
  "quit",
  "request",
  "status",
  "install",
  "webhook",
] as const;

/** The names of those that work at a desk, too. */
const deskCommandNames = [
  "inject",
  "image",
  "reaper",
  "manifests",
  "doctor",
  "timeline",
  "config",
  "completion",
] as const;
export const deskCommands: readonly string[] = deskCommandNames;

/** The name of a command. `src/commands.ts` has the commands themselves, and their order in `--help`. */
export type CommandName = (typeof containerCommands | typeof deskCommandNames)[number];

/** The first words of a call that are commands. */
export const ownWords: readonly string[] = [...containerCommands, ...deskCommandNames, "help"];

/** The flags of ebb itself that users take for commands, or for flags of one, without dashes. */
export const aboutFlags: readonly string[] = ["version", "licenses", "help"];

/** The names of other tools by which ebb can be started (src/compat). */
export const toolNames: readonly string[] = ["scuttle", "envoy-preflight", "linkerd-await", "valet", "pilot-agent"];

/** The names under which the executable is a plugin of kubectl, and completes it. */
export const pluginNames = { plugin: "kubectl-ebb", completion: "kubectl_complete-ebb" };

/** The commands that only the plugin has, whose first guess is `ebb NAME`. */
const pluginCommands: readonly string[] = ["why"];

/** Returns how a command that only the plugin has is called; undefined if the word is none. */
export function pluginCall(word: string): string | undefined {
  return pluginCommands.includes(word) ? `kubectl ebb ${word}` : undefined;
}

/** The pages of the manual for topics that have no page of their own. */
const pagesFor: Readonly<Record<string, string>> = {
  request: "status",
  variables: "options",
  why: "kubectl",
  certificates: "webhook",
  scuttle: "from-scuttle",
  "envoy-preflight": "from-scuttle",
  "linkerd-await": "migrating",
  valet: "migrating",
  "pilot-agent": "migrating",
  kubexit: "migrating",
  pkill: "migrating",
  "sleep-and-curl": "migrating",
};

/** The topics that stand on the page of another. */
export const pagelessTopics: readonly string[] = Object.keys(pagesFor);

/** Returns the page of the manual for a topic that has none of its own, or `from-` it; undefined if no page has it. */
export function pageFor(topic: string): string | undefined {
  const name = topic.replace(/^from-/, "");
  return Object.hasOwn(pagesFor, name) ? pagesFor[name] : undefined;
}

/** The names of other inits, which do nothing that ebb does not. */
export const initNames: readonly string[] = ["tini", "tini-static", "docker-init", "dumb-init", "catatonit"];

import { ownWords, toolNames } from "../../cli/names.ts";

/** The path of ebb in the containers that it starts. */
export const EBB = "/ebb.dev/ebb";
/** The folder at which the volume with ebb is mounted. */
export const EBB_FOLDER = "/ebb.dev";

/** What a container's command starts first. */
type Starter =
  | { readonly kind: "app" }
  /** A tool that ebb replaces, such as scuttle. */
  | { readonly kind: "tool"; readonly name: string; readonly path: string }
  /** An ebb of the image's own. `runs`: it starts a command, as `ebb run` does. */
  | { readonly kind: "ebb"; readonly runs: boolean };

/**
 * Tells from the first two words of a container's command what it starts first: the app, ebb, or a tool that ebb
 * replaces.
 */
export function starterOf([path = "", second = ""]: readonly string[]): Starter {
  const file = path.slice(path.lastIndexOf("/") + 1);
  if (file === "ebb") return { kind: "ebb", runs: second === "run" || !ownWords.includes(second) };
  // pilot-agent is Istio's proxy, and what it starts is no child of the app's
  if (toolNames.includes(file) && file !== "pilot-agent") return { kind: "tool", name: file, path };
  return { kind: "app" };
}

/**
 * Returns the command with `ebb run --` before it, or with ebb in the place of the tool that it starts with. The
 * child's command line is unchanged.
 */
export function wrap(command: readonly string[]): string[] {
  const starter = starterOf(command);
  return starter.kind === "tool" ? [EBB, starter.name, ...command.slice(1)] : [EBB, "run", "--", ...command];
}

/** Returns the command as it was before `wrap`; undefined if ebb is not in it. `tool`: the word that ebb replaced. */
export function unwrap(command: readonly string[], tool: string | undefined): string[] | undefined {
  const [path, word, dashes, ...rest] = command;
  if (path !== EBB || word === undefined) return undefined;
  if (word === "run" && dashes === "--") return rest;
  return toolNames.includes(word) ? [tool ?? word, ...command.slice(2)] : undefined;
}

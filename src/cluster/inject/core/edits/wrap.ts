import { toolNames } from "../../../../shared/cli/core/names.ts";
import { EBB, starterOf } from "../facts/command.ts";

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

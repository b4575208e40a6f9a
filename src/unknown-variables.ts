import { clusterVariables } from "./cluster-variables.ts" with { type: "macro" };
import { type Options, OWN } from "./shared/cli/core/option.ts";
import { isOneSlipAway, nearest } from "./shared/cli/core/suggestion.ts";
import { isOwn } from "./shared/cli/core/values.ts";
import type { Environment } from "./shared/core/environment.ts";
import { isServiceLink } from "./shared/core/service-links.ts";

/** A variable that no option reads, though its name says that one should: a type, so that it is a log line's fields, too. */
type UnknownVariable = { readonly variable: string; readonly didYouMean?: string };

/**
 * Lists the `EBB_` variables that neither one of the options nor a command for the cluster reads, each with the variable
 * that was probably meant; and those that are one slip away from another tool's variable that ebb reads. Leaves out
 * service links.
 */
export function unknownVariables(options: Options, env: Environment): readonly UnknownVariable[] {
  const own: string[] = [];
  const others: string[] = [];
  for (const name of Object.keys(env)) {
    if (!isOwn({ name })) others.push(name);
    else if (!isServiceLink(name, env[name] ?? "")) own.push(name);
  }
  const slips = slipsOf(others, options);
  if (own.length === 0) return slips;
  const ofOptions = Object.values(options).flatMap((option) => option.variables.map(({ name }) => name));
  const read = new Set([...ofOptions, ...clusterVariables()]);
  const words = [...read].filter((name) => isOwn({ name })).map(wordOf);
  const unknown = own.filter((name) => !read.has(name));
  return [...unknown.map((name) => withSuggestion(name, nearest(wordOf(name), words))), ...slips];
}

/** A slip in these first letters is not looked for: each start would compare all names. */
const FIRST = 5;

function slipsOf(names: readonly string[], options: Options): readonly UnknownVariable[] {
  const read = new Set<string>();
  const firsts = new Set<string>();
  for (const { also } of Object.values(options)) {
    for (const { name } of also) {
      read.add(name);
      firsts.add(name.slice(0, FIRST));
    }
  }
  const slips: UnknownVariable[] = [];
  for (const variable of names) {
    if (!firsts.has(variable.slice(0, FIRST)) || read.has(variable)) continue;
    const didYouMean = [...read].find((name) => isOneSlipAway(name, variable));
    if (didYouMean !== undefined) slips.push({ variable, didYouMean });
  }
  return slips;
}

/** Converts `EBB_WAIT_TIMEOUT` to `wait-timeout`. */
function wordOf(variable: string): string {
  return variable.slice(OWN.length).toLowerCase().replaceAll("_", "-");
}

function withSuggestion(variable: string, word: string | undefined): UnknownVariable {
  if (word === undefined) return { variable };
  return { variable, didYouMean: `${OWN}${word.toUpperCase().replaceAll("-", "_")}` };
}

import { pickOptions } from "../../../../shared/cli/core/options.ts";
import type { Environment } from "../../../../shared/core/environment.ts";
import { foundByName, type NamedSidecar } from "../../../../shared/sidecars/core/choice.ts";
import { onNode, planSidecars } from "../../../../shared/sidecars/core/plan.ts";
import type { SidecarName } from "../../../../shared/sidecars/core/registry.ts";
import { type Act, unnamedFor, unnamedIn } from "../../../../shared/sidecars/core/unnamed.ts";
import { valuesIn } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { variableOf, variablesOf } from "../pod-annotations.ts";

/** What says where sidecars are: a container's variables, options by flag, and the pod. */
export interface Saying {
  readonly env: Environment;
  readonly options: ReadonlyMap<string, string>;
  readonly facts: PodFacts;
}

const urlOptions = pickOptions("admin", "ready", "quit", "signalProcess");

/** What variables and options say to ask of the sidecars. */
export type Urls = NonNullable<ReturnType<typeof urlsIn>>;

/** Returns what variables and options say to ask of the sidecars; undefined if a value is bad. */
export function urlsIn({ env, options }: Pick<Saying, "env" | "options">) {
  const variables = Object.fromEntries([...options].map(([flag, text]) => [variableOf(flag), text]));
  return valuesIn({ ...variables, ...env }, urlOptions);
}

/**
 * Returns those of these sidecars of which, on the node's network, nothing names the address that an act needs; without
 * `acts`, those of which nothing names any: `ebb run` refuses to start with such a name. None if a value is bad or elsewhere.
 */
export function unnamedOf(
  names: readonly NamedSidecar[],
  { env, options, facts }: Saying,
  acts?: readonly Act[],
): readonly SidecarName[] {
  const isElsewhere = ["admin", "quit"].flatMap(variablesOf).some((name) => env[name] === "");
  const urls = facts.isOnNode && !isElsewhere ? urlsIn({ env, options }) : undefined;
  if (urls === undefined) return [];
  const found = foundByName({ env, annotations: facts.annotations }, names).map(onNode);
  const planned = { found, sidecars: planSidecars(found, urls) };
  return acts === undefined ? unnamedIn(planned, urls) : unnamedFor(acts, planned, urls);
}

import { parseChoice } from "../../../../shared/sidecars/core/choice.ts";
import type { AppContainer } from "../facts/container-facts.ts";
import { hasVariable, variablesIn } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { variableOf } from "../pod-annotations.ts";
import { type AnnotationsFile, annotationsFileFor } from "./annotations-file.ts";
import { type WithDrain, withDrain } from "./drain.ts";
import { givenOptions, withOptions } from "./options.ts";
import { withDelay } from "./post-start.ts";
import { withSidecars } from "./sidecar-options.ts";
import { unnamedOf } from "./unnamed.ts";
import { addedVariables, type EnvVar } from "./variables.ts";

/** What is decided for a container that ebb starts, or would start if its command were known. */
export interface App extends WithDrain {
  /** Whether ebb looks for sidecars there. */
  readonly looksForSidecars: boolean;
  /** Whether ebb's volume is mounted there; also beside a hook of the container's own, so that this can call ebb drain. */
  readonly isMounted: boolean;
  /** Where ebb finds the pod's annotations; undefined if it needs none, or has no place for them. */
  readonly annotationsFile: AnnotationsFile | undefined;
  /** The variables that ebb adds. */
  readonly variables: readonly EnvVar[];
}

/** Plans what ebb does in each container that is no sidecar, whether ebb can start it or not. */
export function appsOf(facts: PodFacts): readonly App[] {
  const containers = facts.containers.flatMap(({ start, role, ...one }) =>
    start === undefined || start.kind === "ebb-command" || role === "sidecar"
      ? []
      : [unlessRefused({ ...one, start, role }, facts)],
  );
  const isOpaque = ({ start }: AppContainer) => start.kind === "unwrapped";
  const hasOpaqueApp = containers.some(isOpaque) && !containers.every(isOpaque);
  return containers.map((one) => planApp(one, facts, hasOpaqueApp));
}

/** Returns the app, to be left as it is if its own variable names a sidecar without an address: `ebb run` refuses that. */
function unlessRefused(app: AppContainer, facts: PodFacts): AppContainer {
  const { container, start } = app;
  if (start.kind !== "wrapped" || !hasVariable(container, variableOf("sidecar"))) return app;
  const env = variablesIn(container);
  const choice = parseChoice(env[variableOf("sidecar")] ?? "");
  if (choice === undefined) return app;
  const [name] = unnamedOf(choice.named, { env, options: givenOptions(app, facts).all, facts });
  if (name === undefined) return app;
  const reason = `it sets ${variableOf("sidecar")} itself, which names ${name} without its port, and on the node's network its usual ports may be another pod's: write ${name}:PORT`;
  return { ...app, start: { kind: "unwrapped", reason, mustStay: true } };
}

/** Each step takes what the one before it returns, and adds to its `options`. */
function planApp(container: AppContainer, facts: PodFacts, hasOpaqueApp: boolean): App {
  const told = withOptions(container, facts, hasOpaqueApp);
  const informed = withSidecars(told, facts);
  const delayed = withDelay(informed, facts);
  const app = withDrain(delayed, facts);
  const looksForSidecars = app.options.get("sidecar") !== "none";
  const isMounted = app.start.kind === "wrapped" || (app.start.kind === "unwrapped" && app.drain.kind !== "none");
  const annotationsFile = looksForSidecars ? annotationsFileFor(app, facts) : undefined;
  const variables = addedVariables(app, annotationsFile);
  return { ...app, looksForSidecars, isMounted, annotationsFile, variables };
}

/** Reports whether ebb runs in an app: around its command, or at least in a hook that drains. */
export function runsEbb({ start, isMounted }: App): boolean {
  return start.kind !== "unwrapped" || isMounted;
}

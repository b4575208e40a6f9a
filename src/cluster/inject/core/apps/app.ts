import { parseChoice } from "../../../../shared/sidecars/core/choice.ts";
import { detect } from "../../../../shared/sidecars/core/detect.ts";
import type { SidecarName } from "../../../../shared/sidecars/core/registry.ts";
import type { AppContainer } from "../facts/container-facts.ts";
import { hasVariable, variablesIn } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mayEnd } from "../facts/restart.ts";
import { variableOf, variablesOf } from "../pod-annotations.ts";
import { type AnnotationsFile, annotationsFileFor } from "./annotations-file.ts";
import { type DrainPlan, planDrain } from "./drain.ts";
import { fieldOptions, type Given, givenOptions } from "./options.ts";
import { type Delay, delayOf, delayOptions } from "./post-start.ts";
import { type SidecarEvidence, sidecarOptions } from "./sidecar-options.ts";
import { unnamedOf } from "./unnamed.ts";
import { addedVariables, type Variable } from "./variables.ts";

/** What is decided for a container that ebb starts, or would start if its command were known. */
export interface App extends AppContainer {
  /** What the container's variables and the pod's annotations tell of the sidecars. */
  readonly evidence: SidecarEvidence;
  /** Its options by flag, and which of them the annotations and the policy say. */
  readonly options: ReadonlyMap<string, string>;
  readonly given: Given;
  /** Whether annotations, the policy or variables of the manifest say an option. */
  readonly isGiven: (flag: string) => boolean;
  /** The sidecars that the options leave out, because nothing names where they are on the node's network. */
  readonly unnamed: readonly SidecarName[];
  /** The containers of sidecars that nothing waits for, because nothing shows where they listen. */
  readonly unwaited: readonly string[];
  readonly delay: Delay | undefined;
  readonly drain: DrainPlan;
  /** Whether ebb looks for sidecars there. */
  readonly looksForSidecars: boolean;
  /** Whether ebb's volume is mounted there; also beside a hook of the container's own, so that this can call ebb drain. */
  readonly isMounted: boolean;
  /** Whether ebb quits no sidecar at the end of this container: it cannot see the end of another one, or of this one. */
  readonly neverQuits: boolean;
  /** Where ebb finds the pod's annotations; undefined if it needs none, or has no place for them. */
  readonly annotationsFile: AnnotationsFile | undefined;
  /** The variables that ebb adds. */
  readonly variables: readonly Variable[];
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
  const env = variablesIn(container);
  const choice = parseChoice(env[variableOf("sidecar")] ?? "");
  if (start.kind !== "wrapped" || choice === undefined) return app;
  const [name] = unnamedOf(choice.named, { env, options: givenOptions(app, facts).all, facts });
  if (name === undefined) return app;
  const reason = `it sets ${variableOf("sidecar")} itself, which names ${name} without its port, and on the node's network its usual ports may be another pod's: write ${name}:PORT`;
  return { ...app, start: { kind: "unwrapped", reason, mustStay: true } };
}

/** `hasOpaqueApp`: beside the apps that ebb starts is one that it does not: then it quits no sidecar, unless the user says so. */
function planApp(app: AppContainer, facts: PodFacts, hasOpaqueApp: boolean): App {
  const { container, start } = app;
  const env = variablesIn(container);
  const detected = detect({ env, annotations: facts.annotations, atAdmin: undefined, byPort: [] });
  const evidence = { env, detected };
  const given = givenOptions(app, facts);
  const leaves = hasOpaqueApp && !given.all.has("quit-on");
  const neverQuits = leaves && mayEnd(container, facts.pod);
  const sidecars = sidecarOptions(evidence, facts, given.all);
  const withoutDelay = new Map([
    ...fieldOptions(app, facts),
    ...(leaves ? ([["quit-on", "never"]] as const) : []), // in a server, of an agent that waits after its SIGTERM
    ...sidecars.options,
  ]);
  const delay = start.kind === "unwrapped" ? undefined : delayOf(app, evidence, facts, withoutDelay);
  const isGiven = (flag: string) =>
    given.all.has(flag) || variablesOf(flag).some((name) => hasVariable(container, name));
  const beforeDrain = new Map([...delayOptions(delay), ...withoutDelay]);
  const drain = planDrain(app, { evidence, options: beforeDrain, isGiven }, facts);
  const options = new Map([...beforeDrain, ...drain.options]);
  const looksForSidecars = options.get("sidecar") !== "none";
  const isMounted = start.kind === "wrapped" || (start.kind === "unwrapped" && drain.kind !== "none");
  const annotationsFile = looksForSidecars ? annotationsFileFor(container, options, facts) : undefined;
  const variables = addedVariables(app, { options, given, drain, annotationsFile });
  const plan = {
    evidence,
    options,
    given,
    isGiven,
    unnamed: sidecars.unnamed,
    unwaited: sidecars.unwaited,
    delay,
    drain,
    looksForSidecars,
    isMounted,
    neverQuits,
    annotationsFile,
    variables,
  };
  return { ...app, ...plan };
}

/** Reports whether ebb runs in an app: around its command, or at least in a hook that drains. */
export function runsEbb({ start, isMounted }: App): boolean {
  return start.kind !== "unwrapped" || isMounted;
}

import { detect } from "../../../../shared/sidecars/core/detect.ts";
import type { AppContainer } from "../facts/container-facts.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mayEnd } from "../facts/restart.ts";
import { hasVariable, variablesIn } from "../facts/sidecars.ts";
import { variablesOf } from "../pod-annotations.ts";
import { type AnnotationsFile, annotationsFileFor } from "./annotations-file.ts";
import { type DrainPlan, planDrain } from "./drain.ts";
import { fieldOptions, type Given, givenOptions } from "./options.ts";
import { type Delay, delayOf, delayOptions } from "./post-start.ts";
import { type Around, sidecarOptions } from "./sidecar-options.ts";
import { addedVariables, type Variable } from "./variables.ts";

/** What is decided for a container that ebb starts, or would start if its command were known. */
export interface App extends AppContainer {
  /** What the container's variables and the pod's annotations tell of the sidecars. */
  readonly around: Around;
  /** Its options by flag, and which of them the annotations and the policy say. */
  readonly options: ReadonlyMap<string, string>;
  readonly given: Given;
  /** Whether annotations, the policy or variables of the manifest say an option. */
  readonly isGiven: (flag: string) => boolean;
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
  const started = facts.containers.flatMap(({ start, role, ...one }) =>
    start === undefined || start.kind === "ebb-command" || role === "sidecar" ? [] : [{ ...one, start, role }],
  );
  const isUnknown = ({ start }: AppContainer) => start.kind === "unknown";
  const isBlind = started.some(isUnknown) && !started.every(isUnknown);
  return started.map((one) => planApp(one, facts, isBlind));
}

/** `isBlind`: ebb starts apps beside one that it does not start: then it quits no sidecar, unless the user says so. */
function planApp(started: AppContainer, facts: PodFacts, isBlind: boolean): App {
  const { container, start } = started;
  const env = variablesIn(container);
  const detected = detect({ env, annotations: facts.annotations, atAdmin: undefined, byPort: [] });
  const around = { env, detected };
  const given = givenOptions(started, facts);
  const neverQuits = isBlind && mayEnd(container, facts.pod) && !given.all.has("quit-on");
  const known = new Map([
    ...fieldOptions(started, facts),
    ...(neverQuits ? ([["quit-on", "never"]] as const) : []),
    ...sidecarOptions(around, facts, given.all),
    ...given.all,
  ]);
  const delay = start.kind === "unknown" ? undefined : delayOf(started, around, facts, known);
  const options = new Map([...delayOptions(delay), ...known]);
  const drain = planDrain(started, around, options, facts);
  const isGiven = (flag: string) =>
    given.all.has(flag) || variablesOf(flag).some((name) => hasVariable(container, name));
  const looksForSidecars = options.get("sidecar") !== "none";
  const isMounted = start.kind === "wrapped" || (start.kind === "unknown" && drain.kind !== "none");
  const annotationsFile = looksForSidecars ? annotationsFileFor(container, options, facts) : undefined;
  const variables = addedVariables(started, { options, given, drain, annotationsFile });
  const plan = {
    around,
    options,
    given,
    isGiven,
    delay,
    drain,
    looksForSidecars,
    isMounted,
    neverQuits,
    annotationsFile,
    variables,
  };
  return { ...started, ...plan };
}

/** Reports whether ebb adds nothing to an app: it does not start it, and adds no hook. */
export function isUntouched({ start, isMounted }: App): boolean {
  return start.kind === "unknown" && !isMounted;
}

import { NATIVE } from "../../../../shared/sidecars/core/kinds/native.ts";
import { isProxy, type SidecarName } from "../../../../shared/sidecars/core/registry.ts";
import { type App, runsEbb } from "../apps/app.ts";
import { quits } from "../apps/quits.ts";
import { choiceIn } from "../apps/sidecar-options.ts";
import type { ContainerFacts } from "../facts/container-facts.ts";
import type { PodFacts } from "../facts/facts.ts";
import { readNativeValue } from "../facts/native-value.ts";
import { restartOptions } from "../facts/restart.ts";
import { quitsThatAreOff } from "../facts/shown-sidecars.ts";
import { endsWithApps } from "../facts/sidecar-images.ts";
import type { Container, Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { Concern, Note } from "./concern.ts";

/** In a pod that ends, a sidecar that cannot be told to quit outlives the app. */
export const outliving: Concern = (facts, apps) => {
  const withEbb = apps.filter(runsEbb);
  if (facts.restartsAlways || withEbb.length === 0) return {};
  return {
    warnings: [
      ...facts.containers.flatMap((one) => endless(one, facts)),
      ...(withEbb.some(quitsByItself) ? quitProblems(facts) : []),
      ...withEbb.flatMap((app) => leftOut(app, facts)),
      ...facts.containers.flatMap((one) => unquittable(one, facts)),
    ],
  };
};

/** Reports whether ebb quits the sidecars there, and the user does not say which or how. */
function quitsByItself(app: App): boolean {
  return quits(app) && !["quit", "signal-process", "sidecar"].some(app.isGiven);
}

/** Returns a warning for each ordinary sidecar that the user's `ebb.dev/sidecar` leaves out, and that would take a quit. */
function leftOut(app: App, { sidecars }: PodFacts): readonly Note[] {
  const choice = choiceIn(app.evidence.env, app.options);
  if (choice === undefined || choice.isAuto || choice.named.length === 0) return [];
  if (!app.isGiven("sidecar") || !quits(app) || ["quit", "signal-process"].some(app.isGiven)) return [];
  const hasProxy = choice.named.some(({ name }) => isProxy(name));
  const isNamed = (name: SidecarName) => (hasProxy && isProxy(name)) || choice.named.some((one) => one.name === name);
  return sidecars.flatMap(({ name, container, at, problem }) => {
    if (at === undefined || problem !== undefined || isNamed(name)) return [];
    const message = `"${container}" will outlive the app: ebb.dev/sidecar leaves out ${name}; add it`;
    return [{ container, field: "", message }];
  });
}

/** Returns a warning for each ordinary sidecar that ebb knows and that will not be told to quit, or ignores that. */
function quitProblems({ sidecars, annotations }: PodFacts): readonly Note[] {
  const natives = readNativeValue(annotations.get(NATIVE) ?? "").names;
  const ofContainers = sidecars.flatMap(({ at, name, container, problem }) => {
    if (at === undefined) return [];
    if (problem !== undefined)
      return [{ container, field: "args", message: `"${container}" will outlive the app: ${problem}` }];
    const message = `"${container}" will outlive the app: ebb.dev/native says it is native, but it is an ordinary container; set ebb.dev/native: "true" to make it native, or take "${name}" out`;
    return natives.includes(name) ? [{ container, field: "", message }] : [];
  });
  const byAnnotations = quitsThatAreOff(annotations, sidecars).map((message) => ({
    field: "metadata.annotations",
    message,
  }));
  return [...ofContainers, ...byAnnotations];
}

/** Reports whether the kubelet restarts a container whenever it ends, which then goes on as long as its pod. */
function isEndless(container: Container, pod: Pod): boolean {
  return restartOptions(container, pod).some(([flag, value]) => flag === "restart-policy" && value === "Always");
}

/**
 * Returns a warning for an ordinary container that is always restarted, although the pod's restartPolicy lets the others
 * end: the pod runs until all have ended (kubernetes v1.37.2 pkg/kubelet/kubelet_pods.go, getPhase).
 */
function endless({ name, container }: ContainerFacts, { pod }: PodFacts): readonly Note[] {
  if (!isEndless(container, pod)) return [];
  const message = `this pod never ends: "${name}" is restarted whenever it ends; put it under initContainers, where it is a native sidecar, or let it end`;
  return [{ container: name, field: "restartPolicy", message }];
}

/** Returns a warning for a sidecar that stays ordinary, if ebb cannot tell it to quit, and nobody else ends it. */
function unquittable(one: ContainerFacts, facts: PodFacts): readonly Note[] {
  const { moves, requested, orchestrator, pod, annotations } = facts;
  const { name, container, role, sidecar, pathAsked } = one;
  const isSaid = moves.moved.has(one) || moves.kept.has(name) || isEndless(container, pod);
  const ends =
    pathAsked !== undefined ||
    sidecar !== undefined ||
    orchestrator?.roleIn(container, pod) !== undefined ||
    endsWithApps(container.image ?? "");
  const isReaped = ["exec", "quit"].some((way) => annotations.has(`ebb.dev/reap-${way}.${name}`));
  if (role !== "sidecar" || isSaid || ends || isReaped) return [];
  const why = moves.ordinary.get(name);
  const remedy = why === undefined ? remedyFor(one, requested) : `it cannot become native: ${why}`;
  const message = `"${name}" will outlive the app: ebb cannot shut it down; ${remedy}`;
  return [{ container: name, field: "", message }];
}

function remedyFor(
  { name, isKnownSidecar, hasSidecarImage }: ContainerFacts,
  { sidecars, native }: PodAnnotations,
): string {
  const reaper = `, or ebb reaper ends it with the command in ebb.dev/reap-exec.${name}`;
  if (sidecars.has(name) && native === "none")
    return `without ebb.dev/native: "false" it becomes a native sidecar${reaper}`;
  if (isKnownSidecar) return `ebb.dev/native: "true" makes it a native sidecar${reaper}`;
  if (hasSidecarImage) return 'ebb.dev/native: "true" makes it a native sidecar';
  return `ebb.dev/sidecars: ${name} makes it a native sidecar`;
}

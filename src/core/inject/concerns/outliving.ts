import { quitsThatAreOff, shownIn } from "../../sidecars/shown.ts";
import { NATIVE } from "../annotation-names.ts";
import { type App, isLeft } from "../apps/app.ts";
import { quits } from "../apps/quits.ts";
import type { PodFacts } from "../facts/facts.ts";
import { readNativeValue } from "../facts/native-value.ts";
import type { Concern, Note } from "./concern.ts";

/** In a pod that ends, a sidecar that cannot be told to quit outlives the app. */
export const outliving: Concern = (facts, apps) => {
  if (facts.isServer || !apps.some((app) => !isLeft(app) && quitsByItself(app))) return {};
  return { warnings: [...quitProblems(facts), ...unquittable(facts)] };
};

/** Reports whether ebb quits the sidecars there, and the user does not say which or how. */
function quitsByItself(app: App): boolean {
  return quits(app) && !["quit", "signal-process", "sidecar"].some(app.isGiven);
}

/** Returns a warning for each ordinary sidecar that ebb knows and that will not be told to quit, or ignores that. */
function quitProblems({ sidecars, annotations }: PodFacts): readonly Note[] {
  const natives = readNativeValue(annotations.get(NATIVE) ?? "").names;
  const ofContainers = sidecars.flatMap(({ at, name, container, problem }) => {
    if (at === undefined) return [];
    if (problem !== undefined)
      return [{ container, field: "args", message: `"${container}" will outlive the app: ${problem}` }];
    const message = `"${container}" will outlive the app: it is no native sidecar, as ebb.dev/native says; write ebb.dev/native: "true" to make it one, or take "${name}" out`;
    return natives.includes(name) ? [{ container, field: "", message }] : [];
  });
  const byAnnotations = quitsThatAreOff(annotations).map((message) => ({ field: "metadata.annotations", message }));
  return [...ofContainers, ...byAnnotations];
}

/** Returns a warning for each container that the pod calls a sidecar and keeps ordinary, if ebb cannot tell it to quit. */
function unquittable({ containers, requested }: PodFacts): readonly Note[] {
  if (requested.native !== "none") return []; // then it became native, or it was said why not
  return containers.flatMap(({ name, container }) => {
    const message = `"${name}" will outlive the app: ebb cannot tell it to quit; without ebb.dev/native: "false" it becomes a native sidecar`;
    const isShown = shownIn(container) !== undefined;
    return requested.sidecars.has(name) && !isShown ? [{ container: name, field: "", message }] : [];
  });
}

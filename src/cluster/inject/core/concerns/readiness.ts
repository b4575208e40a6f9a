import { type JsonObject, listOf, objectOf } from "../../../../shared/core/json.ts";
import type { App } from "../apps/app.ts";
import { choiceIn } from "../apps/sidecar-options.ts";
import type { PodFacts } from "../facts/facts.ts";
import type { Concern } from "./concern.ts";

/** While ebb waits, a container that has no probe counts as ready. */
export const readiness: Concern = (facts, apps) => {
  const { pod, orchestrator } = facts;
  if (orchestrator?.probesApps === true) return {};
  const warnings = apps
    .filter((app) => waits(app, facts))
    .flatMap(({ name, container }) => {
      const message = earlyTraffic(container, pod.spec.restartPolicy);
      return message === undefined ? [] : [{ container: name, field: "readinessProbe", message }];
    });
  return { warnings: warnings.slice(0, 1) };
};

/** Reports whether ebb starts an app, and a sidecar or something else that it waits for is shown or named. */
function waits({ start, looksForSidecars, evidence, options, isGiven }: App, facts: PodFacts): boolean {
  if (start.kind !== "wrapped" || !looksForSidecars) return false;
  const isShown =
    facts.containers.some(({ role }) => role === "sidecar") ||
    facts.sidecars.length > 0 || // native ones
    evidence.detected.found.length > 0;
  const isNamed = choiceIn(evidence.env, options)?.named.length !== 0; // also one whose name is elsewhere
  return isShown || isNamed || options.has("ready") || ["admin", "ready"].some(isGiven);
}

/**
 * Returns why a container that ebb starts gets traffic before its app runs: it declares ports and runs on, and no probe
 * says when it is ready. Returns undefined if a probe does. `podPolicy`: the pod's restartPolicy.
 */
function earlyTraffic(container: JsonObject, podPolicy: unknown): string | undefined {
  const { name, ports, readinessProbe, startupProbe, restartPolicy } = container;
  const runsOn = (restartPolicy ?? podPolicy ?? "Always") === "Always";
  const listens = listOf(ports).some((port) => (objectOf(port).protocol ?? "TCP") === "TCP");
  if (!runsOn || !listens || readinessProbe != null || startupProbe != null) return undefined;
  return `while ebb waits for the sidecars, "${name}" counts as ready and gets traffic: give it a readinessProbe`;
}

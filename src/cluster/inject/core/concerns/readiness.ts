import { type JsonObject, listOf, objectOf } from "../../../../shared/core/json.ts";
import type { Concern } from "./concern.ts";

/** While ebb waits, a container that has no probe counts as ready. */
export const readiness: Concern = ({ pod, orchestrator }, apps) => {
  if (orchestrator?.probesApps === true) return {};
  const waiting = apps.filter(({ looksForSidecars, start }) => looksForSidecars && start.kind === "wrapped");
  const warnings = waiting.flatMap(({ name, container }) => {
    const message = earlyTraffic(container, pod.spec.restartPolicy);
    return message === undefined ? [] : [{ container: name, field: "readinessProbe", message }];
  });
  return { warnings: warnings.slice(0, 1) };
};

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

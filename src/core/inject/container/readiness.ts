import { type JsonObject, listOf, objectOf } from "../../base/json.ts";

/**
 * Returns why a container that ebb starts gets traffic before its app runs: it declares ports and runs on, and no probe
 * says when it is ready. Returns undefined if a probe does. `podPolicy`: the pod's restartPolicy.
 */
export function earlyTraffic(container: JsonObject, podPolicy: unknown): string | undefined {
  const { name, ports, readinessProbe, startupProbe, restartPolicy } = container;
  const runsOn = (restartPolicy ?? podPolicy ?? "Always") === "Always";
  const listens = listOf(ports).some((port) => (objectOf(port).protocol ?? "TCP") === "TCP");
  if (!runsOn || !listens || readinessProbe != null || startupProbe != null) return undefined;
  return `while ebb waits for the sidecars, "${name}" counts as ready and gets traffic: give it a readinessProbe`;
}

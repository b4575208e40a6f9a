import { sidecarIn } from "../sidecars/containers.ts";
import type { Pod } from "./pod.ts";
import { NATIVE } from "./status.ts";

/**
 * Returns the names of a pod's native sidecars (init containers with restartPolicy Always) that ebb knows,
 * comma-separated: `istio,dapr`. Returns undefined if there are none, or if the pod has the annotation ebb.dev/native.
 */
export function nativeSidecarsIn({ metadata, spec }: Pod): string | undefined {
  if (metadata?.annotations?.[NATIVE] !== undefined) return undefined;
  const natives = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const names = natives.flatMap(({ name, image }) => sidecarIn(name, image ?? undefined) ?? []);
  return names.length === 0 ? undefined : [...new Set(names)].join(",");
}

import { sidecarIn } from "../sidecars/containers.ts";
import type { Pod } from "./pod.ts";
import { NATIVE } from "./status.ts";

/**
 * Returns the known native sidecars of a pod as a list (`istio,dapr`); undefined where there are none, or where the pod's
 * annotation names them.
 */
export function nativeSidecarsIn({ metadata, spec }: Pod): string | undefined {
  if (metadata?.annotations?.[NATIVE] !== undefined) return undefined;
  const natives = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const names = natives.flatMap(({ name, image }) => sidecarIn(name, image ?? undefined) ?? []);
  return names.length === 0 ? undefined : [...new Set(names)].join(",");
}

import { sidecarIn } from "../sidecars/containers.ts";
import type { Pod } from "./pod.ts";
import { NATIVE } from "./status.ts";

/** The native sidecars that are in the pod; undefined: none, or the pod says it itself. */
export function nativeSidecarsIn({ metadata, spec }: Pod): string | undefined {
  if (metadata?.annotations?.[NATIVE] !== undefined) return undefined;
  const natives = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const names = natives.flatMap(({ name, image }) => sidecarIn(name, image ?? undefined) ?? []);
  return names.length === 0 ? undefined : [...new Set(names)].join(",");
}

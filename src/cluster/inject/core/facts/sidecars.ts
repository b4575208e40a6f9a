import type { Pod } from "../pod.ts";
import type { SeenContainer } from "./container-facts.ts";
import { type ShownSidecar, shownIn } from "./shown-sidecars.ts";

/** A sidecar that ebb knows and that a pod's manifest shows. */
export interface PodSidecar extends ShownSidecar {
  /** Its index in spec.containers; undefined if it is native, or becomes so. */
  readonly at: number | undefined;
}

/**
 * Returns the sidecars that ebb knows among a pod's native ones, those that become native (`moved`), and the other
 * containers, but for those that the pod says are its apps.
 */
export function sidecarsOf(
  { spec }: Pod,
  containers: readonly SeenContainer[],
  moved: ReadonlySet<SeenContainer>,
  apps: ReadonlySet<string>,
): readonly PodSidecar[] {
  const natives = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const ordinary = containers.filter((one) => !apps.has(one.name) && !moved.has(one));
  return [
    ...[...natives.map(shownIn), ...[...moved].map(({ sidecar }) => sidecar)].map((sidecar) => ({
      sidecar,
      at: undefined,
    })),
    ...ordinary,
  ].flatMap(({ sidecar, at }) => (sidecar === undefined ? [] : [{ ...sidecar, at }]));
}

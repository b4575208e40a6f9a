import type { Container, Pod } from "../../api/core/objects.ts";
import { EBB, EBB_FOLDER } from "../../inject/core/facts/command.ts";
import { ebbStartedBy } from "../../inject/core/presence.ts";

/** An ebb that can be run in a pod. */
export interface EbbProgram {
  readonly container: string;
  readonly path: string;
}

/**
 * Returns the first running container that starts with ebb, or has it mounted. Returns undefined if the pod's spec shows
 * none: ebb may be the ENTRYPOINT of an image.
 */
export function ebbIn(pod: Pod): EbbProgram | undefined {
  const running = pod.status?.containerStatuses?.filter(({ state }) => state?.running).map(({ name }) => name);
  for (const each of pod.spec.containers) {
    const path = pathIn(each);
    if (running?.includes(each.name) && path !== undefined) return { container: each.name, path };
  }
  return undefined;
}

function pathIn(container: Container): string | undefined {
  const isMounted = container.volumeMounts?.some(({ mountPath }) => mountPath === EBB_FOLDER);
  return ebbStartedBy(container) ?? (isMounted ? EBB : undefined);
}

import { sidecarIn } from "../../../../../src/cluster/core/containers.ts";
import { type Ending, endingOf, type MethodKind, methodKinds } from "../../../../../src/cluster/reaper/core/methods.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import { ended, type PodInWords, podOf, running } from "./stuck-pods.ts";

/**
 * Returns how the container `name` is ended, or why it cannot be, in a pod with an app that has ended; `more` adds to
 * the pod.
 */
export function ending(
  name: string,
  more: Partial<PodInWords> = {},
  allowed: readonly MethodKind[] = methodKinds,
  allowsReapExec = true,
): Ending | string {
  const pod = viewOf(podOf({ ...more, containers: { app: ended(0), [name]: running, ...more.containers } }));
  const container = pod.containers.find((each) => each.name === name);
  return container === undefined
    ? "no such container"
    : endingOf(container, sidecarIn(name, container.image), { pod, allowed, image: "ebb:1", allowsReapExec });
}

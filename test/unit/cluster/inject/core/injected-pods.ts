import { injectPod } from "../../../../../src/cluster/inject/core/inject-pod.ts";
import { changed, type Given, type Loose, podIn, policy } from "./injection.ts";

/** Injects ebb into a pod, lets `change` edit the result in place, injects a second time, and returns the pod. */
export function again(given: Given, change: (pod: Loose) => void, changes: Partial<typeof policy> = {}): Loose {
  const pod = structuredClone(changed(given));
  change(pod);
  return podIn(injectPod(pod, { ...policy, ...changes }));
}

import { injectPod } from "../../../src/core/inject/patch.ts";
import { changed, type Given, type Loose, podIn, policy } from "./injection.ts";

/** A pod that ebb is in, after somebody has changed it, and after ebb has come a second time. */
export function again(given: Given, change: (pod: Loose) => void, changes: Partial<typeof policy> = {}): Loose {
  const pod = structuredClone(changed(given));
  change(pod);
  return podIn(injectPod(pod, { ...policy, ...changes }));
}

import { type FoundPod, objectsIn } from "../../../../src/cluster/inject/core/workload/workload.ts";

/** Returns the pods and pod templates of a document. */
export function podsIn(document: unknown): readonly FoundPod[] {
  return objectsIn(document).filter((one) => "pod" in one);
}

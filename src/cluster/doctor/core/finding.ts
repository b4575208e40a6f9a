import type { Pod } from "../../api/core/objects.ts";

/** Something in a cluster that is not as it was asked for. */
export interface Finding {
  /** Kind, namespace and name of the object, such as `Pod shop/web-0`. */
  readonly object: string;
  /** What is wrong with it, and what to do, in one sentence. */
  readonly message: string;
}

/** Returns a finding about a pod. */
export function ofPod({ metadata: { namespace, name } }: Pod, message: string): Finding {
  return { object: `Pod ${namespace}/${name}`, message };
}

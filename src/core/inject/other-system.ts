import { objectOf } from "../base/json.ts";
import type { Pod } from "./pod.ts";
import type { Remark } from "./remark.ts";

/**
 * Returns a problem if the pod is for Windows (by spec.os, hostProcess or its node selector), because ebb cannot run
 * there. Returns undefined if it is not.
 */
export function otherSystem({ spec }: Pod): Remark | undefined {
  const message = "ebb is for Linux, and this pod is for Windows";
  if (spec.os?.name === "windows") return { field: "spec.os.name", message };
  if (objectOf(objectOf(spec.securityContext).windowsOptions).hostProcess === true)
    return { field: "spec.securityContext.windowsOptions.hostProcess", message };
  const label = ["kubernetes.io/os", "beta.kubernetes.io/os"].find((name) => spec.nodeSelector?.[name] === "windows");
  return label === undefined ? undefined : { field: `spec.nodeSelector[${label}]`, message };
}

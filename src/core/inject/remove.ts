import { type JsonObject, objectOf } from "../base/json.ts";
import { EBB } from "./container/command.ts";
import { STATUS } from "./marks.ts";
import { checkPod, type Pod } from "./pod.ts";
import type { Remark } from "./remark.ts";
import { readStatus, removeInjection } from "./status.ts";

/** What came of taking ebb out of a pod; undefined if ebb is not in it. */
export type Removal =
  | { readonly kind: "removed"; readonly pod: JsonObject; readonly containers: readonly string[] }
  | { readonly kind: "refused"; readonly problems: readonly Remark[] }
  | undefined;

/**
 * Takes out of a pod or pod template all that ebb.dev/status says was put there. Refuses if the pod or the status is
 * malformed, or if a container still needs ebb. Accepts any JSON. Never throws, and does not change its argument.
 */
export function removeEbb(value: unknown): Removal {
  const text = objectOf(objectOf(objectOf(value).metadata).annotations)[STATUS];
  if (text === undefined) return undefined;
  const malformed = checkPod(value);
  if (malformed.length > 0) return { kind: "refused", problems: malformed };
  const given = value as Pod;
  const status = readStatus(String(text));
  if (status === undefined || "field" in status)
    return { kind: "refused", problems: status === undefined ? [] : [status] };
  const pod = removeInjection(given, status).pod;
  const problems = leftovers(pod, given);
  if (problems.length > 0) return { kind: "refused", problems };
  return { kind: "removed", pod: pod as JsonObject, containers: Object.keys(status.containers) };
}

/**
 * Returns a problem for each container that still needs ebb, because it was renamed or copied since. Without ebb's
 * volume such a container would not start.
 */
function leftovers({ spec }: Pod, given: Pod): readonly Remark[] {
  const rest = new Set((spec.volumes ?? []).map(({ name }) => name));
  const gone = new Set((given.spec.volumes ?? []).map(({ name }) => name).filter((name) => !rest.has(name)));
  return spec.containers.flatMap(({ name, command, volumeMounts, lifecycle }, at): readonly Remark[] => {
    const isStarted = command?.[0] === EBB || lifecycle?.preStop?.exec?.command?.[0] === EBB;
    const isMounted = (volumeMounts ?? []).some((mount) => gone.has(mount.name));
    if (!isStarted && !isMounted) return [];
    const message = `ebb.dev/status does not say how container "${name}" got ebb, so it stays in this pod: remove ebb from this container by hand, or give the container its former name`;
    return [{ field: `spec.containers[${at}]`, message }];
  });
}

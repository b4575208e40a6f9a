import { copyOf, objectOf } from "../../../../shared/core/json.ts";
import { STATUS } from "../annotation-names.ts";
import { EBB, EBB_FOLDER } from "../facts/command.ts";
import { checkPod, type Pod, type Remark } from "../pod.ts";
import { readStatus, type Status } from "./status.ts";
import { undoEdits } from "./undo.ts";

/** What came of taking ebb out of a pod; undefined if ebb is not in it. */
export type Removal =
  | { readonly kind: "removed"; readonly pod: Pod; readonly containers: readonly string[] }
  | { readonly kind: "refused"; readonly problems: readonly Remark[] }
  | undefined;

/**
 * Takes out of a copy of a pod or pod template all that ebb.dev/status says was put there. Refuses if the pod or the
 * status is malformed, or if a container still needs ebb. Accepts any JSON. Never throws.
 */
export function removeEbb(value: unknown): Removal {
  const text = objectOf(objectOf(objectOf(value).metadata).annotations)[STATUS];
  if (text === undefined) return undefined;
  const malformed = checkPod(value);
  if (malformed.length > 0) return { kind: "refused", problems: malformed };
  const status = readStatus(String(text)) as Status | Remark;
  if ("field" in status) return { kind: "refused", problems: [status] };
  const given = value as Pod;
  const pod = copyOf(given);
  undoEdits(pod, status);
  const problems = leftovers(pod, given);
  if (problems.length > 0) return { kind: "refused", problems };
  return { kind: "removed", pod, containers: Object.keys(status.containers) };
}

/**
 * Returns a problem for each container that still needs ebb, because it was renamed or copied since. Without ebb's
 * volume such a container would not start. One that mounts a volume of its own there would.
 */
function leftovers({ spec }: Pod, given: Pod): readonly Remark[] {
  const rest = new Set((spec.volumes ?? []).map(({ name }) => name));
  const gone = new Set((given.spec.volumes ?? []).map(({ name }) => name).filter((name) => !rest.has(name)));
  return spec.containers.flatMap(({ name, command, args, volumeMounts, lifecycle }, at): readonly Remark[] => {
    const words = [...(command ?? []), ...(args ?? []), ...(lifecycle?.preStop?.exec?.command ?? [])];
    const isStarted = words.some((word) => word.includes(EBB));
    const mounts = volumeMounts ?? [];
    const isMounted = mounts.some((mount) => gone.has(mount.name));
    const hasItsOwn = mounts.some(({ name: volume, mountPath }) => mountPath === EBB_FOLDER && !gone.has(volume));
    if (!isMounted && (hasItsOwn || !isStarted)) return [];
    const message = `ebb.dev/status does not say how container "${name}" got ebb, so it stays in this pod: remove ebb from this container by hand, or give the container its former name`;
    return [{ field: `spec.containers[${at}]`, message }];
  });
}

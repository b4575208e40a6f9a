import { copyOf, listOf, objectOf } from "../../../../shared/core/json.ts";
import { annotationField, INSTALL, isNamed, STATUS, VOLUME } from "../annotation-names.ts";
import { EBB, EBB_FOLDER } from "../facts/command.ts";
import { checkPod, type Pod, type Remark } from "../pod.ts";
import { readStatus, type Status } from "./status.ts";
import { undoEdits } from "./undo.ts";

/** What came of taking ebb out of a pod; undefined if it has no ebb.dev/status. */
type Removal =
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

/**
 * Returns a warning for a pod without ebb.dev/status in which ebb stands where `ebb inject` puts it; undefined for any
 * other. By hand, ebb may stand there, too. Accepts any JSON. Never throws.
 */
export function warnOfUnrecorded(value: unknown): Remark | undefined {
  const { containers, initContainers, volumes } = objectOf(objectOf(value).spec);
  const all = listOf(containers).map(objectOf);
  const mounts = all.flatMap(({ volumeMounts }) => listOf(volumeMounts).map(objectOf));
  const mounted = mounts.filter(({ mountPath }) => mountPath === EBB_FOLDER).map(({ name }) => name);
  const started = all.filter(({ command }) => listOf(command)[0] === EBB);
  const installs = listOf(initContainers).map(objectOf).filter(isNamed(INSTALL));
  const shared = listOf(volumes)
    .map(objectOf)
    .filter((one) => isNamed(VOLUME)(one) && mounted.includes(one.name));
  const found = [
    ...started.map(({ name }) => `${EBB} in the command of container "${name}"`),
    ...installs.map(({ name }) => `the init container "${name}"`),
    ...shared.map(({ name }) => `the volume "${name}"`),
  ];
  if (found.length === 0) return undefined;
  const message = `it is missing, so ebb cannot restore what was there before, and leaves ${found.join(", ")}: put the annotation back, for example from Git, and run this again; or take ebb out by hand`;
  return { field: annotationField(STATUS), message };
}

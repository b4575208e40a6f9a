import { listOf, objectOf, textOf } from "../base/json.ts";
import { isSidecar } from "../sidecars/containers.ts";
import { kindOf, sidecarNames } from "../sidecars/registry.ts";
import { roleOf } from "./container/role.ts";
import { orchestratorOf } from "./orchestrators/registry.ts";
import type { Container, Pod, Remark, Remarks } from "./pod.ts";
import type { PodAnnotations } from "./pod-annotations.ts";

/** The ordinary containers that became native sidecars: the index that each had, by its name. */
export type Moved = ReadonlyMap<string, number>;

/**
 * Makes sidecars of a pod native, in place: those that ebb.dev/sidecars names, in its order, and those that ebb knows if
 * the pod wants that. They become the last init containers, because what they read may be made by those before them; none
 * of those needs them, as they have run before them until now. Warns of those that stay ordinary, and of the others' ports.
 */
export function makeNative(pod: Pod, annotations: PodAnnotations, remarks: Remarks): Moved {
  const moved = new Map<string, number>();
  const { spec } = pod;
  const roles = spec.containers.map((container) => roleOf(pod, container, annotations));
  const firstApp = roles.findIndex((role) => role !== "sidecar");
  if (firstApp < 0 || annotations.native === "none") return moved;
  const all = spec.containers.map((container, at) => ({ container, at }));
  const places = new Map(all.map((one) => [one.container.name, one]));
  const named = [...annotations.sidecars].flatMap((name) => places.get(name) ?? []);
  const known = all.filter(({ container, at }) => roles[at] === "sidecar" && isKnown(container));
  const injected = injectedIn(pod);
  const wanted = new Set(annotations.native === "all" ? [...named, ...known] : named);
  for (const { container, at } of wanted) {
    const isInjected = injected.has(container.name);
    const why = whyOrdinary(container, { pod, isInjected, isAfterApp: at > firstApp });
    if (why === undefined) {
      moved.set(container.name, at);
      remarks.warnings.push(...warnOfPorts(container, at, pod));
    } else if (!isInjected || annotations.sidecars.has(container.name))
      remarks.warnings.push({ field: `spec.containers[${at}]`, message: `"${container.name}" stays ordinary: ${why}` });
  }
  if (moved.size === 0) return moved;
  const natives = [...moved.values()].map((at) => ({ ...(spec.containers[at] as Container), restartPolicy: "Always" }));
  spec.containers = spec.containers.filter(({ name }) => !moved.has(name));
  spec.initContainers = [...(spec.initContainers ?? []), ...natives];
  return moved;
}

function isKnown({ name, image }: Container): boolean {
  return isSidecar(name, image ?? undefined);
}

/** What a container's place in its pod is. */
interface Standing {
  readonly pod: Pod;
  readonly isInjected: boolean;
  readonly isAfterApp: boolean;
}

/** Returns why a container cannot be native; undefined if it can. */
function whyOrdinary(container: Container, { pod, isInjected, isAfterApp }: Standing): string | undefined {
  const orchestrator = orchestratorOf(pod);
  if (orchestrator?.roleIn(container, pod) !== undefined)
    return `${orchestrator.name} looks for it among the pod's containers`;
  if (isInjected) return "its injector has added it: let that make it native";
  if (container.restartPolicy != null) return "it has a restartPolicy of its own";
  // kubernetes v1.36.3 pkg/kubelet/kuberuntime/kuberuntime_sandbox.go:117
  if (pod.spec.hostNetwork !== true && listOf(container.ports).some((port) => objectOf(port).hostPort != null))
    return "the kubelet opens a hostPort only for an ordinary container; take it out if nobody needs it";
  if (isAfterApp && container.lifecycle?.postStart != null)
    return "its postStart hook may wait for the app, which starts only when the hook of a native sidecar has ended; put it before the app's container if it does not";
  return undefined;
}

/**
 * Returns a warning for ports of a container that becomes native, where older versions of Kubernetes look only at ordinary
 * ones: EndpointSlices for names (endpointslice utils.go, findPort: from v0.33.0 on also at native ones), the scheduler for
 * the ports of a pod on its node's network (pkg/scheduler/util/utils.go: from v1.33.6 on).
 */
function warnOfPorts({ name, ports }: Container, at: number, { spec }: Pod): readonly Remark[] {
  const names = listOf(ports).flatMap((port) => textOf(objectOf(port).name) ?? []);
  const byName = `before Kubernetes 1.33 no Service finds its port by name (${names.join(", ")}): write the number as targetPort`;
  const onNode =
    'before Kubernetes 1.33.6 the scheduler does not see its ports on the node: if two such pods may meet there, keep it ordinary (ebb.dev/native: "false")';
  const isOnNode = spec.hostNetwork === true && listOf(ports).length > 0;
  const parts = [...(names.length > 0 ? [byName] : []), ...(isOnNode ? [onNode] : [])];
  if (parts.length === 0) return [];
  return [{ field: `spec.containers[${at}].ports`, message: `"${name}" becomes native: ${parts.join("; ")}` }];
}

/** Returns the names of the containers that injectors have added, as their annotations say. */
function injectedIn({ metadata }: Pod): ReadonlySet<string> {
  const annotations = new Map(Object.entries(metadata?.annotations ?? {}));
  return new Set(sidecarNames.flatMap((name) => kindOf(name).injected?.(annotations) ?? []));
}

/** Puts native sidecars that ebb has made back among the containers of a pod, in place. `moved`: their places there. */
export function makeOrdinary({ spec }: Pod, moved: Readonly<Record<string, number>>): void {
  const places = Object.entries(moved).sort(([, a], [, b]) => a - b);
  for (const [name, at] of places) {
    const native = spec.initContainers?.find((one) => one.name === name && one.restartPolicy === "Always");
    if (native === undefined) continue;
    const { restartPolicy: _, ...container } = native;
    spec.initContainers = spec.initContainers?.filter((one) => one !== native);
    spec.containers.splice(at, 0, container as Container);
  }
  if (places.length > 0 && spec.initContainers?.length === 0) delete spec.initContainers;
}

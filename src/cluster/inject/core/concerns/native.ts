import { listOf, objectOf, textOf } from "../../../../shared/core/json.ts";
import { NATIVE } from "../../../../shared/sidecars/core/kinds/native.ts";
import { namedSidecars } from "../apps/sidecar-options.ts";
import { isChange } from "../edits/edit.ts";
import type { SeenContainer } from "../facts/container-facts.ts";
import type { PodFacts } from "../facts/facts.ts";
import { readNativeValue } from "../facts/native-value.ts";
import type { Concern, Note } from "./concern.ts";

/** Sidecars that the pod names, or that ebb knows if the pod wants that, become native. */
export const native: Concern = ({ moves: { moved, kept }, isOnNode }) => ({
  edits: moved.size === 0 ? [] : [{ kind: "native", moved: [...moved].map(({ name, at }) => ({ name, at })) }],
  warnings: [
    ...[...kept].map(([name, why]) => ({ container: name, field: "", message: `"${name}" stays ordinary: ${why}` })),
    ...[...moved].flatMap((one) => warnOfPorts(one, isOnNode)),
  ],
});

/**
 * Returns a warning for ports of a container that becomes native, where older versions of Kubernetes look only at ordinary
 * ones: EndpointSlices for names (endpointslice utils.go, findPort: from v0.33.0 on also at native ones), the scheduler for
 * the ports of a pod on its node's network (pkg/scheduler/util/utils.go: from v1.33.6 on).
 */
function warnOfPorts({ name, container: { ports } }: SeenContainer, isOnNode: boolean): readonly Note[] {
  const names = listOf(ports).flatMap((port) => textOf(objectOf(port).name) ?? []);
  const byName = `before Kubernetes 1.33, a Service cannot find its port by name (${names.join(", ")}): set targetPort to the number`;
  const onNode =
    'before Kubernetes 1.33.6, the scheduler does not see its ports on the node: if two such pods may land on one node, keep it ordinary (ebb.dev/native: "false")';
  const isSeen = isOnNode && listOf(ports).length > 0;
  const parts = [...(names.length > 0 ? [byName] : []), ...(isSeen ? [onNode] : [])];
  if (parts.length === 0) return [];
  return [{ container: name, field: "ports", message: `"${name}" becomes native: ${parts.join("; ")}` }];
}

/** `ebb run` learns which sidecars are native from ebb.dev/native: no injector's annotation says it. */
export const nativeAnnotation: Concern = (facts, _, planned) => {
  const value = planned.some(isChange) ? nativeSidecarsIn(facts) : undefined;
  return value === undefined ? {} : { edits: [{ kind: "native-annotation", value }] };
};

/**
 * Returns the value of ebb.dev/native that names a pod's native sidecars (init containers with restartPolicy Always) that
 * ebb knows: `istio,dapr`, behind the pod's own `true` or `false`. `ebb run` waits for these, so not one that nothing shows
 * where it listens. Returns undefined if there are none, or if the pod names some itself.
 */
function nativeSidecarsIn({ pod, sidecars }: PodFacts): string | undefined {
  const annotation = pod.metadata?.annotations?.[NATIVE];
  if (annotation !== undefined && readNativeValue(annotation).names.length > 0) return undefined;
  const natives = sidecars.filter((one) => one.at === undefined && namedSidecars(one).length > 0);
  const names = new Set(natives.map(({ name }) => name));
  return names.size === 0 ? undefined : [...(annotation === undefined ? [] : [annotation.trim()]), ...names].join(",");
}

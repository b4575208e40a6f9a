import { isPort } from "../../base/host-port.ts";
import { listOf, objectOf } from "../../base/json.ts";
import { LONGEST_READ } from "../../base/readable.ts";
import { isSidecar } from "../../sidecars/containers.ts";
import { detect } from "../../sidecars/detect.ts";
import { isProxy } from "../../sidecars/registry.ts";
import { NATIVE } from "../annotation-names.ts";
import { readNativeValue } from "../native-value.ts";
import type { Container, Pod, Remark } from "../pod.ts";
import { type PodAnnotations, variablesOf } from "../pod-annotations.ts";
import { choiceIn, type PodSidecars, sidecarsOf, variablesIn } from "./sidecars.ts";

/** What a pod tells of its network and its sidecars, which is the same for each of its containers. */
export interface Surroundings extends PodSidecars {
  /** Whether the pod is on its node's network (hostNetwork), where no port is believed. */
  readonly isOnNode: boolean;
  /**
   * Values of options for `ebb run`. `host-network`: the network is the node's. `app-port`: the ports on which the app
   * listens, so that ebb sends no request there.
   */
  readonly options: ReadonlyMap<string, string>;
}

/** Collects what a pod tells of its network, its sidecars and the app's ports. */
export function surroundingsOf(pod: Pod, said: Pick<PodAnnotations, "apps" | "sidecars">): Surroundings {
  const isOnNode = pod.spec.hostNetwork === true;
  const texts = Object.entries(pod.metadata?.annotations ?? {}).filter(([, text]) => text.length <= LONGEST_READ);
  const annotations = new Map(texts);
  const options = new Map<string, string>();
  const ports = appPorts(pod, said.sidecars);
  if (ports.length > 0) options.set("app-port", ports.join(","));
  if (isOnNode) options.set("host-network", "true");
  return { isOnNode, sidecars: sidecarsOf(pod, said.apps), annotations, options };
}

/** The most ports that `app-port` gets. */
const MAX_PORTS = 50;

/** Lists the TCP ports that the app's containers declare. */
function appPorts({ spec }: Pod, sidecars: ReadonlySet<string>): readonly number[] {
  const apps = spec.containers.filter(({ name, image }) => !isSidecar(name, image ?? undefined) && !sidecars.has(name));
  const ports = apps.flatMap(({ ports }) => listOf(ports).map(objectOf));
  const numbers = ports.flatMap(({ containerPort, protocol }) =>
    Number.isInteger(containerPort) && (protocol ?? "TCP") === "TCP" ? [containerPort as number] : [],
  );
  return [...new Set(numbers)].filter(isPort).slice(0, MAX_PORTS);
}

/**
 * Returns the value of ebb.dev/native that names a pod's native sidecars (init containers with restartPolicy Always) that
 * ebb knows: `istio,dapr`, behind the pod's own `true` or `false`. Returns undefined if there are none, or if the pod
 * names some itself.
 */
export function nativeSidecarsIn(pod: Pod): string | undefined {
  const said = pod.metadata?.annotations?.[NATIVE];
  if (said !== undefined && readNativeValue(said).names.length > 0) return undefined;
  const natives = sidecarsOf(pod).filter(({ at }) => at === undefined);
  const names = new Set(natives.map(({ name }) => name));
  return names.size === 0 ? undefined : [...(said === undefined ? [] : [said.trim()]), ...names].join(",");
}

/**
 * Reports whether something other than a port tells which proxy is this container's: the pod's containers, its
 * annotations, a variable, an option.
 */
export function hasOwnProxy(
  container: Container,
  { sidecars, annotations }: PodSidecars,
  options: ReadonlyMap<string, string>,
): boolean {
  const env = variablesIn(container);
  const isSaid = (flag: string) => options.has(flag) || variablesOf(flag).some((name) => name in env);
  if (sidecars.some(({ name }) => isProxy(name)) || isSaid("admin")) return true;
  const choice = choiceIn(container, options);
  if (choice === undefined || choice.named.some(({ name }) => isProxy(name))) return true;
  if (!choice.isAuto) return choice.named.length > 0;
  return detect({ env, annotations, atAdmin: undefined, byPort: [] }).hasProxy;
}

/** The warning for a pod on its node's network in which nothing names a proxy. */
export const noneNamed: Remark = {
  field: "spec.hostNetwork",
  message:
    "nothing names a proxy of this pod, and on the node's network ebb believes no port, and adds no drain hook: name the proxy with ebb.dev/sidecar, or its admin interface with ebb.dev/admin",
};

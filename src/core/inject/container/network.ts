import { isPort } from "../../base/host-port.ts";
import { listOf, objectOf } from "../../base/json.ts";
import { isSidecar, sidecarIn } from "../../sidecars/containers.ts";
import { detect } from "../../sidecars/detect.ts";
import { kindOf, type SidecarName } from "../../sidecars/registry.ts";
import { NATIVE } from "../annotation-names.ts";
import type { Container, Pod, Remark } from "../pod.ts";
import { variablesOf } from "../pod-annotations.ts";

/** What a pod tells of its network and its proxies, which is the same for each of its containers. */
export interface Surroundings {
  /** Whether the pod is on its node's network (hostNetwork), where no port is believed. */
  readonly isOnNode: boolean;
  /** The sidecars that ebb knows among its containers and init containers. */
  readonly sidecars: readonly SidecarName[];
  readonly annotations: ReadonlyMap<string, string>;
  /**
   * Values of options for `ebb run`. `host-network`: the network is the node's; then `sidecar` names the sidecars that
   * are containers of this pod, because no port is believed there. `detect-timeout`: a proxy is in the pod, so that ebb
   * looks for it for longer. `app-port`: the ports on which the app listens, so that ebb asks nobody there.
   */
  readonly options: ReadonlyMap<string, string>;
}

/**
 * Reports whether traffic passes through a sidecar. None passes through Dapr's and the like: there is nothing to drain.
 */
function isProxy(name: SidecarName): boolean {
  return kindOf(name).role === "proxy";
}

/**
 * How long `auto` looks for a proxy that is in the pod, but that no annotation tells of: its image may come later than
 * the app's.
 */
const LATE_PROXY = "1m";

/**
 * Collects what a pod tells of its network, its sidecars and the app's ports. `others`: the names in ebb.dev/sidecars.
 */
export function surroundingsOf(pod: Pod, others: readonly string[]): Surroundings {
  const { containers, initContainers, hostNetwork } = pod.spec;
  const isOnNode = hostNetwork === true;
  const sidecars = sidecarsAmong([...containers, ...(initContainers ?? [])]);
  const annotations = new Map(Object.entries(pod.metadata?.annotations ?? {}));
  const options = new Map<string, string>();
  const ports = appPorts(pod, others);
  if (ports.length > 0) options.set("app-port", ports.join(","));
  if (isOnNode) options.set("host-network", "true");
  if (sidecars.some(isProxy)) {
    if (isOnNode) options.set("sidecar", sidecars.join(","));
    else if (!detect({ env: {}, annotations, atAdmin: undefined, byPort: [] }).hasProxy)
      options.set("detect-timeout", LATE_PROXY);
  }
  return { isOnNode, sidecars, annotations, options };
}

/** The most ports that `app-port` gets. */
const MAX_PORTS = 50;

/** Lists the TCP ports that the app's containers declare. */
function appPorts({ spec }: Pod, sidecars: readonly string[]): readonly number[] {
  const apps = spec.containers.filter(
    ({ name, image }) => !isSidecar(name, image ?? undefined) && !sidecars.includes(name),
  );
  const ports = apps.flatMap(({ ports }) => listOf(ports).map(objectOf));
  const numbers = ports.flatMap(({ containerPort, protocol }) =>
    Number.isInteger(containerPort) && (protocol ?? "TCP") === "TCP" ? [containerPort as number] : [],
  );
  return [...new Set(numbers)].filter(isPort).slice(0, MAX_PORTS);
}

/** Returns the sidecars that ebb knows among containers, each once. */
function sidecarsAmong(containers: readonly Container[]): readonly SidecarName[] {
  return [...new Set(containers.flatMap(({ name, image }) => sidecarIn(name, image ?? undefined) ?? []))];
}

/**
 * Returns the names of a pod's native sidecars (init containers with restartPolicy Always) that ebb knows,
 * comma-separated: `istio,dapr`. Returns undefined if there are none, or if the pod has the annotation ebb.dev/native.
 */
export function nativeSidecarsIn({ metadata, spec }: Pod): string | undefined {
  if (metadata?.annotations?.[NATIVE] !== undefined) return undefined;
  const natives = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const names = sidecarsAmong(natives);
  return names.length === 0 ? undefined : names.join(",");
}

/**
 * Reports whether something other than a port tells which proxy is this container's: the pod's containers, its
 * annotations, a variable, an option.
 */
export function hasOwnProxy(
  { env }: Container,
  { sidecars, annotations }: Surroundings,
  options: ReadonlyMap<string, string>,
): boolean {
  const variables = new Map((env ?? []).map(({ name, value }) => [name, value ?? ""]));
  const isSaid = (flag: string) => options.has(flag) || variablesOf(flag).some((name) => variables.has(name));
  if (sidecars.some(isProxy) || isSaid("admin")) return true;
  const named = options.get("sidecar") ?? variables.get(variablesOf("sidecar")[0] as string) ?? "auto";
  if (named !== "auto") return named !== "none";
  const { found } = detect({ env: Object.fromEntries(variables), annotations, atAdmin: undefined, byPort: [] });
  return found.some(({ name }) => isProxy(name));
}

/** The warning for a pod on its node's network in which nothing names a proxy. */
export const noneNamed: Remark = {
  field: "spec.hostNetwork",
  message:
    "nothing names a proxy of this pod, and on the node's network ebb believes no port, and adds no drain hook: name the proxy with ebb.dev/sidecar, or its admin interface with ebb.dev/admin",
};

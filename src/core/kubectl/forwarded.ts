import type { Address } from "../base/address.ts";
import { isNative, runningIn } from "../reap/pod-containers.ts";
import type { PodView } from "../reap/pod-view.ts";
import { loopbackPort, planOf } from "../reap/quits.ts";
import { sidecarIn } from "../sidecars/containers.ts";
import type { Probe } from "../sidecars/probe.ts";
import type { SidecarName } from "../sidecars/registry.ts";
import type { Sidecar } from "../sidecars/sidecar.ts";

/** Returns the address at which a port of the pod's loopback is reached from here. */
export type Via = (port: number) => Address;

/** A sidecar of another pod, and the ports of the pod's loopback at which it is asked. */
export interface FarSidecar {
  readonly sidecar: Sidecar;
  readonly ports: readonly number[];
}

/**
 * Lists the sidecars that run in a pod and can be asked at its loopback. A pod on its node's network has none: there a
 * port may be another pod's.
 */
export function farSidecarsOf(pod: PodView): readonly FarSidecar[] {
  if (pod.hasHostNetwork) return [];
  const kinds = runningIn(pod).flatMap((each): [SidecarName, boolean][] => {
    const name = sidecarIn(each.name, each.image);
    return name === undefined ? [] : [[name, isNative(each)]];
  });
  return [...new Map(kinds)].flatMap(([name, isNative]) => {
    const planned = planOf(name, pod);
    const admin = planned.envoy && loopbackPort(planned.envoy.admin);
    const envoy = admin === undefined ? undefined : planned.envoy;
    const ready = planned.ready.filter((probe) => portsIn(probe) !== undefined);
    const ports = [admin ?? [], ...ready.map((probe) => portsIn(probe) ?? [])].flat();
    return ports.length === 0 ? [] : [{ sidecar: { ...planned, envoy, ready, isNative }, ports: [...new Set(ports)] }];
  });
}

/** Lists the Envoys among them, at their admin interfaces alone. */
export function farEnvoysOf(pod: PodView): readonly FarSidecar[] {
  return farSidecarsOf(pod).flatMap(({ sidecar }) => {
    const port = sidecar.envoy && loopbackPort(sidecar.envoy.admin);
    return port === undefined ? [] : [{ sidecar, ports: [port] }];
  });
}

/**
 * Returns the sidecar with its requests going the way through which its pod's loopback is reached. Its admin socket is
 * left out: on this machine that path would be another Envoy's.
 */
export function throughTunnel({ socket: _, ...sidecar }: Sidecar, via: Via): Sidecar {
  const { envoy, ready } = sidecar;
  return {
    ...sidecar,
    envoy: envoy && { ...envoy, admin: { ...envoy.admin, address: far(envoy.admin.address, via) }, isElsewhere: true },
    ready: ready.map((probe) => probeThrough(probe, via)),
    quits: [],
  };
}

/** A tunnel accepts each connection, and closes it as soon as the pod refuses. */
const STAYS_OPEN_MS = 1000;

function probeThrough(probe: Probe, via: Via): Probe {
  switch (probe.kind) {
    case "http":
      return { ...probe, target: { ...probe.target, address: far(probe.target.address, via) } };
    case "connect":
      return { ...probe, address: far(probe.address, via), staysOpenMs: STAYS_OPEN_MS };
    case "any":
      return { ...probe, probes: probe.probes.map((each) => probeThrough(each, via)) };
    case "file":
      return probe;
  }
}

function far(address: Address, via: Via): Address {
  return address.kind === "tcp" ? via(address.port) : address;
}

/** Returns the ports of the pod's loopback that a probe asks; undefined if it asks anything else. */
function portsIn(probe: Probe): readonly number[] | undefined {
  if (probe.kind === "file") return undefined;
  if (probe.kind === "any") {
    const all = probe.probes.map(portsIn);
    return all.includes(undefined) ? undefined : all.flatMap((ports) => ports ?? []);
  }
  const port = loopbackPort(probe.kind === "http" ? probe.target : { address: probe.address, isSecure: false });
  return port === undefined ? undefined : [port];
}

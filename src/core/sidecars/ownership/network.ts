import type { Environment } from "../../base/environment.ts";
import { networkByHosts } from "./hosts-file.ts";

/** Whether the network namespace is the pod's own, its node's, or of unknown owner. */
export interface Network {
  readonly kind: "own" | "node" | "unknown";
  /** What decided that, in words for the log. */
  readonly by: string;
}

/** All that tells whose network it is. */
export interface NetworkSigns {
  /** The value of --host-network. */
  readonly told: boolean | undefined;
  readonly env: Environment;
  /** The texts of /etc/hosts and /proc/self/mountinfo. Undefined if they cannot be read. */
  readonly hosts: string | undefined;
  readonly mounts: string | undefined;
  /** The TCP ports that listen here. */
  readonly listening: ReadonlySet<number>;
}

/**
 * Decides whether the network is the pod's own or may be the node's: by --host-network, else by /etc/hosts, which the
 * kubelet writes, else by the kubelet's ports or by POD_IP and HOST_IP. These two can prove only that it is the node's:
 * a mistake in the other direction would quit another pod's proxy.
 */
export function networkOf({ told, env, hosts, mounts, listening }: NetworkSigns): Network {
  if (told !== undefined) return { kind: told ? "node" : "own", by: "--host-network" };
  const kind = networkByHosts(hosts, mounts);
  if (kind !== undefined) return { kind, by: "the kubelet's /etc/hosts" };
  // kubelet: its health on loopback, its API on all addresses; the latter alone is also the port of webhooks in pods
  if (listening.has(10248) && listening.has(10250)) return { kind: "node", by: "the kubelet's ports 10248 and 10250" };
  const ip = env.POD_IP ?? "";
  if (ip !== "" && ip === env.HOST_IP) return { kind: "node", by: "POD_IP, which is HOST_IP" };
  return { kind: "unknown", by: "no kubelet has written this /etc/hosts" };
}

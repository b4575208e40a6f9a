import type { Environment } from "../../../shared/core/environment.ts";

/** Whose the network namespace is: the pod's own, its node's, or unknown; `no pod` outside Kubernetes. */
export type Network = "own" | "node" | "unknown" | "no pod";

/** First lines that the kubelet writes since 1.11 (kubernetes pkg/kubelet/kubelet_pods.go, managedHostsHeader...). */
const OWN = "# Kubernetes-managed hosts file.";
const NODE = "# Kubernetes-managed hosts file (host network).";

/**
 * Decides whose the network is, by the first line of /etc/hosts, which the kubelet writes. It is unknown if the kubelet
 * has not written it, or the pod mounts a file of its own over it; then a variable that the kubelet sets in each
 * container (kubernetes pkg/kubelet/kubelet_pods.go, getServiceEnvVarMap) tells whether this is a pod. `hosts` is the
 * text of /etc/hosts, `mounts` of /proc/self/mountinfo.
 */
export function networkByHosts(hosts = "", mounts = "", { KUBERNETES_SERVICE_HOST }: Environment = {}): Network {
  if (isNodes(hosts)) return "node";
  if (firstLine(hosts) === OWN && !isMountedOver(mounts)) return "own";
  return KUBERNETES_SERVICE_HOST === undefined ? "no pod" : "unknown";
}

/** Reports whether /etc/hosts, whose text this is, shows that the network is the node's. */
export function isNodes(hosts: string): boolean {
  return firstLine(hosts) === NODE;
}

function firstLine(text: string): string | undefined {
  return text.split("\n", 1)[0];
}

/**
 * Reports whether the pod mounts a file of its own over /etc/hosts, which may be a copy of another pod's. Some runtimes
 * show `/` as the path of each mount: that counts as not mounted over.
 */
function isMountedOver(mounts: string): boolean {
  const rows = mounts.split("\n").map((line) => line.split(" ", 5)); // proc_pid_mountinfo(5)
  const roots = rows.filter(([, , , , mountPoint]) => mountPoint === "/etc/hosts").map(([, , , root = ""]) => root);
  return roots.some((root) => root !== "/" && !/\/pods\/[^/]+\/etc-hosts$/.test(root));
}

/**
 * Returns why no port is believed on a network that is not the pod's own, and what to set instead. `name` is the
 * sidecar's, or NAME.
 */
export function whyNoPort(network: Exclude<Network, "own">, name = "NAME"): string {
  switch (network) {
    case "node":
      return `on the node's network, a port may belong to another pod: name the sidecar with its port, --sidecar ${name.replaceAll(" or ", ":PORT or ")}:PORT, or --admin URL`;
    case "no pod":
      return `this is not a pod. If there is a sidecar here, name it with --sidecar ${name} or --admin URL. To look for one at the local ports, set --host-network=false`;
    case "unknown":
      return `/etc/hosts does not show whether the network is the pod's own: name the sidecar with --sidecar ${name} or --admin URL, or set --host-network=false if it is`;
  }
}

/** kubernetes pkg/kubelet/kubelet_pods.go (managedHostsHeader, managedHostsHeaderWithHostNetwork), since 1.11. */
const OWN = "# Kubernetes-managed hosts file.";
const NODE = "# Kubernetes-managed hosts file (host network).";

/** Tells whose network it is by the first line of /etc/hosts, which the kubelet writes; undefined where that does not tell. */
export function networkByHosts(hosts = "", mounts = ""): "own" | "node" | undefined {
  const [line = ""] = hosts.split("\n", 1);
  if (line === NODE) return "node";
  return line === OWN && !isMountedOver(mounts) ? "own" : undefined;
}

/**
 * Whether the pod mounts a file of its own over /etc/hosts: it may be a copy of another pod's. Some runtimes show no path but
 * `/`.
 */
function isMountedOver(mounts: string): boolean {
  const roots = [...mounts.matchAll(/^(?:\S+ ){3}(\S+) \/etc\/hosts /gm)].map(([, root = ""]) => root);
  return roots.some((root) => root !== "/" && !/\/pods\/[^/]+\/etc-hosts$/.test(root));
}

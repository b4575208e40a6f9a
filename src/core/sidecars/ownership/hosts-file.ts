/** First lines that the kubelet writes since 1.11 (kubernetes pkg/kubelet/kubelet_pods.go, managedHostsHeader...). */
const OWN = "# Kubernetes-managed hosts file.";
const NODE = "# Kubernetes-managed hosts file (host network).";

/**
 * Tells whether the network is the pod's own or its node's, by the first line of /etc/hosts, which the kubelet writes.
 * Returns undefined if that does not tell: the kubelet has not written it, or the pod mounts a file of its own over it.
 * `hosts` is the text of /etc/hosts, `mounts` of /proc/self/mountinfo.
 */
export function networkByHosts(hosts = "", mounts = ""): "own" | "node" | undefined {
  const [line = ""] = hosts.split("\n", 1);
  if (line === NODE) return "node";
  return line === OWN && !isMountedOver(mounts) ? "own" : undefined;
}

/**
 * Reports whether the pod mounts a file of its own over /etc/hosts, which may be a copy of another pod's. Some runtimes
 * show `/` as the path of each mount: that counts as not mounted over.
 */
function isMountedOver(mounts: string): boolean {
  const roots = [...mounts.matchAll(/^(?:\S+ ){3}(\S+) \/etc\/hosts /gm)].map(([, root = ""]) => root);
  return roots.some((root) => root !== "/" && !/\/pods\/[^/]+\/etc-hosts$/.test(root));
}

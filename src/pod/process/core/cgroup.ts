/**
 * Reports whether a process belongs to another pod, or to the node, by the texts of its /proc/PID/cgroup and of ebb's
 * own. The kubelet names a pod's control group by its UID (kubernetes, pkg/kubelet/cm/pod_container_manager_linux.go).
 * From within a container's cgroup namespace another container of the pod is `/../ID`; what is further up is outside
 * the pod (cgroup_namespaces(7)). Returns false if nothing tells: if `cgroup` is empty, or without a kubelet.
 */
export function isOfAnotherPod(cgroup: string, own: string): boolean {
  const uid = podUidIn(cgroup);
  if (uid !== undefined) return uid !== podUidIn(own);
  if (cgroup === "") return false;
  return podUidIn(own) !== undefined || /^\d+:[^:\n]*:\/\.\.\/\.\.\//m.test(cgroup);
}

/** Returns the UID in the path of a pod's control group, as cgroupfs or systemd (with `_`) write it; undefined without. */
function podUidIn(cgroup: string): string | undefined {
  return /^\d+:[^:\n]*:\S*[/-]pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})[./]/m // regexp: a path of the kernel's has 4096 bytes at most
    .exec(cgroup)?.[1]
    ?.replaceAll("_", "-");
}

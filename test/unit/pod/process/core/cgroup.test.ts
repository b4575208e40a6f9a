import { expect, test } from "bun:test";
import { isOfAnotherPod } from "../../../../../src/pod/process/core/cgroup.ts";

const one = "652a184e-81d7-4630-8cce-b47295605d27";
const other = "517ec9d7-8111-492c-aa93-4dc1d2464fbc";
const cgroupfs = (uid: string) =>
  `9:pids:/kubepods/burstable/pod${uid}/58206353b\n0::/kubepods/burstable/pod${uid}/58206353b\n`;
const systemd = (uid: string) =>
  `0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid.replaceAll("-", "_")}.slice/cri-containerd-5.scope\n`;
const inNamespace = "0::/\n";

test.each<[string, string, string, boolean]>([
  ["the same pod", cgroupfs(one), cgroupfs(one), false],
  ["the same pod, by systemd", systemd(one), systemd(one), false],
  ["another pod", cgroupfs(other), cgroupfs(one), true],
  ["another pod, by systemd", systemd(other), systemd(one), true],
  ["a static pod, whose UID is a digest", cgroupfs("0123456789abcdef".repeat(2)), cgroupfs(one), true],
  ["a process of the node", "0::/system.slice/istio.service\n", cgroupfs(one), true],
  ["ebb's own container, in a cgroup namespace", inNamespace, inNamespace, false],
  ["another container of the pod, in a cgroup namespace", "0::/../cri-containerd-6.scope\n", inNamespace, false],
  ["another pod, in a cgroup namespace", `0::/../../pod${other}/5820\n`, inNamespace, true],
  [
    "another pod, in a cgroup namespace, by systemd",
    `0::/../../kubepods-pod${other}.slice/5.scope\n`,
    inNamespace,
    true,
  ],
  ["a process of the node, in a cgroup namespace", "0::/../../../system.slice/istio.service\n", inNamespace, true],
  ["a pod, while ebb runs on the node", cgroupfs(one), "0::/user.slice/session-1.scope\n", true],
  ["any process, where there is no kubelet", "0::/user.slice/a.scope\n", "0::/user.slice/b.scope\n", false],
  ["a process whose file cannot be read", "", cgroupfs(one), false],
])("%s", (_, cgroup, own, expected) => {
  expect(isOfAnotherPod(cgroup, own)).toBe(expected);
});

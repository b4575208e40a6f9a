import { expect, test } from "bun:test";
import { type Network, networkByHosts } from "../../../../../src/pod/find/core/network.ts";

const OWN = "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n10.0.0.7\tweb-0\n";
const NODE = "# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n";
const uid = "0b6b1c5e-7a0f-4a4c-9c4e-2f6a0c1d2e3f";

function mounted(root: string): string {
  return `700 600 0:1 / /proc rw - proc proc rw\n701 600 8:1 ${root} /etc/hosts rw,relatime - ext4 /dev/sda1 rw\n`;
}

const kubelets = mounted(`/var/lib/kubelet/pods/${uid}/etc-hosts`);

test.each<[title: string, hosts: string | undefined, mounts: string | undefined, network: Network]>([
  ["the kubelet's file of a pod", OWN, kubelets, "own"],
  ["the kubelet's file on the node's network", NODE, kubelets, "node"],
  ["the kubelet's file where its own folder is a mount", OWN, mounted(`/pods/${uid}/etc-hosts`), "own"],
  ["the kubelet's file where the runtime shows no paths", OWN, mounted("/"), "own"],
  ["the kubelet's file where no mounts are seen", OWN, undefined, "own"],
  ["a copy of such a file, mounted by the pod", OWN, mounted("/srv/hosts"), "unknown"],
  ["a node's copy of its pod's, mounted by the pod", OWN, mounted("/etc/hosts"), "unknown"],
  ["the line further down, as a nested node's file has it", `${NODE}${OWN}`, undefined, "node"],
  ["the line of a pod further down alone", `127.0.0.1 localhost\n${OWN}`, undefined, "unknown"],
  ["the line with more behind it", "# Kubernetes-managed hosts file. \n", undefined, "unknown"],
  ["Docker's file", "127.0.0.1\tlocalhost\n172.17.0.2\t0123456789ab\n", undefined, "unknown"],
  ["no file at all", undefined, undefined, "unknown"],
  ["an empty file", "", undefined, "unknown"],
])("whose network it is: %s", (_, hosts, mounts, network) => {
  expect(networkByHosts(hosts, mounts, { KUBERNETES_SERVICE_HOST: "10.0.0.1" })).toBe(network);
  expect(networkByHosts(hosts, mounts, {})).toBe(network === "unknown" ? "no pod" : network);
});

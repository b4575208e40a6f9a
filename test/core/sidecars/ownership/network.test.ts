import { expect, test } from "bun:test";
import { type NetworkSigns, networkOf } from "../../../../src/core/sidecars/ownership/network.ts";

const OWN = "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n10.0.0.7\tweb-0\n";
const NODE = "# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n";
const uid = "0b6b1c5e-7a0f-4a4c-9c4e-2f6a0c1d2e3f";

function mounted(root: string): string {
  return `700 600 0:1 / /proc rw - proc proc rw\n701 600 8:1 ${root} /etc/hosts rw,relatime - ext4 /dev/sda1 rw\n`;
}

const kubelets = mounted(`/var/lib/kubelet/pods/${uid}/etc-hosts`);

test.each<[title: string, signs: Partial<NetworkSigns>, kind: "own" | "node" | "unknown", by: RegExp]>([
  ["the user's word comes first", { told: true, hosts: OWN }, "node", /--host-network/],
  ["the user's word that it is the pod's own", { told: false, hosts: NODE }, "own", /--host-network/],
  ["the kubelet's file of a pod", { hosts: OWN, mounts: kubelets }, "own", /\/etc\/hosts/],
  ["the kubelet's file on the node's network", { hosts: NODE, mounts: kubelets }, "node", /\/etc\/hosts/],
  [
    "the kubelet's file where its own folder is a mount",
    { hosts: OWN, mounts: mounted(`/pods/${uid}/etc-hosts`) },
    "own",
    /hosts/,
  ],
  ["the kubelet's file where the runtime shows no paths", { hosts: OWN, mounts: mounted("/") }, "own", /hosts/],
  ["the kubelet's file where no mounts are seen", { hosts: OWN, mounts: undefined }, "own", /hosts/],
  ["a copy of such a file, mounted by the pod", { hosts: OWN, mounts: mounted("/srv/hosts") }, "unknown", /no kubelet/],
  [
    "a node's copy of its pod's, mounted by the pod",
    { hosts: OWN, mounts: mounted("/etc/hosts") },
    "unknown",
    /no kubelet/,
  ],
  ["the line further down, as a nested node's file has it", { hosts: `${NODE}${OWN}` }, "node", /hosts/],
  ["the line of a pod further down alone", { hosts: `127.0.0.1 localhost\n${OWN}` }, "unknown", /no kubelet/],
  ["the line with more behind it", { hosts: "# Kubernetes-managed hosts file. \n" }, "unknown", /no kubelet/],
  ["Docker's file", { hosts: "127.0.0.1\tlocalhost\n172.17.0.2\t0123456789ab\n" }, "unknown", /no kubelet/],
  ["no file at all", { hosts: undefined }, "unknown", /no kubelet/],
  ["an empty file", { hosts: "" }, "unknown", /no kubelet/],
  ["a kubelet's two ports", { listening: new Set([10248, 10250]) }, "node", /10248 and 10250/],
  ["one of them, which webhooks in pods have too", { listening: new Set([10250]) }, "unknown", /no kubelet/],
  [
    "the kubelet's ports in a pod of its own, where it runs one",
    { hosts: OWN, listening: new Set([10248, 10250]) },
    "own",
    /hosts/,
  ],
  ["the pod's address, which is the node's", { env: { POD_IP: "10.0.0.1", HOST_IP: "10.0.0.1" } }, "node", /POD_IP/],
  [
    "another address than the node's, which anybody may set",
    { env: { POD_IP: "10.0.0.1", HOST_IP: "10.0.0.2" } },
    "unknown",
    /no kubelet/,
  ],
  ["empty addresses", { env: { POD_IP: "", HOST_IP: "" } }, "unknown", /no kubelet/],
])("whose network it is: %s", (_, signs, kind, by) => {
  const none = { told: undefined, env: {}, hosts: undefined, mounts: undefined, listening: new Set<number>() };
  const network = networkOf({ ...none, ...signs });
  expect(network.kind).toBe(kind);
  expect(network.by).toMatch(by);
});

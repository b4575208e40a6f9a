import { expect, test } from "bun:test";
import { imageVolumeFindings, imageVolumeNote } from "../../../../../src/cluster/doctor/core/image-volume.ts";

type Versions = readonly [kubelet: string, runtime: string, system?: string];

function nodesOf(...all: readonly Versions[]) {
  return all.map(([kubeletVersion, containerRuntimeVersion, operatingSystem = "linux"], at) => ({
    metadata: { name: `node-${at}` },
    status: { nodeInfo: { kubeletVersion, containerRuntimeVersion, operatingSystem } },
  }));
}

const fine: Versions = ["v1.35.0", "containerd://2.1.0"];

test.each<[string, Versions, boolean]>([
  ["a node that is new enough", fine, true],
  ["one of a vendor", ["v1.36.2-gke.1", "containerd://2.10.0-k3s1"], true],
  ["one of the next major version", ["v2.0.0", "containerd://v3.0.0"], true],
  ["one with an old kubelet", ["v1.34.9", "containerd://2.1.0"], false],
  ["one with an old containerd", ["v1.35.0", "containerd://2.0.9"], false],
  ["one with CRI-O", ["v1.35.0", "cri-o://1.31.0"], true],
  ["OpenShift's", ["v1.35.2", "cri-o://1.35.1-3.rhaos4.22.git1a2b3c4.el9"], true],
  ["one with CRI-O and an old kubelet", ["v1.34.0", "cri-o://1.34.0"], false],
  ["one with an old CRI-O", ["v1.35.0", "cri-o://1.30.9"], false],
  ["one with another runtime", ["v1.35.0", "docker://28.0.0"], false],
  ["a virtual one", ["v1.35.0-vk", ""], false],
  ["one that says nothing", ["", ""], false],
])("%s can mount ebb's image, or is a finding", (_, versions, can) => {
  const nodes = nodesOf(fine, versions);
  expect(imageVolumeNote(nodes) !== undefined).toBe(can);
  expect(imageVolumeFindings(nodes).map(({ object }) => object)).toEqual(can ? [] : ["Node node-1"]);
});

test("nodes of the same versions are one finding, and those of Windows are none", () => {
  const old: Versions = ["v1.34.2", "containerd://1.7.27"];
  const nodes = nodesOf(["v1.33.0", "containerd://1.7.0", "windows"], old, fine, old, ["v1.35.0", ""]);
  expect(imageVolumeFindings(nodes)).toEqual([
    {
      object: "Node node-1",
      message: expect.stringMatching(
        /^it and 1 node like it cannot .*: kubelet v1\.34\.2 and containerd:\/\/1\.7\.27, but kubelet 1\.35 and containerd 2\.1 or cri-o 1\.31, or newer,/,
      ),
    },
    {
      object: "Node node-4",
      message: expect.stringMatching(/^it cannot .*: kubelet v1\.35\.0 and an unknown runtime, but/),
    },
  ]);
  expect(imageVolumeNote(nodesOf(["v1.33.0", "containerd://1.7.0", "windows"]))).toBeUndefined();
  expect(imageVolumeNote(nodesOf(["v1.33.0", "containerd://1.7.0", "windows"], fine))).toBeDefined();
});

test("a control plane that keeps pods off is no finding, but without it not all nodes can", () => {
  const spec = (effect: string) => ({ taints: [{ key: "node-role.kubernetes.io/control-plane", effect }] });
  const withTaint = (effect: string) =>
    nodesOf(["v1.34.0", "containerd://2.0.0"]).map((node) => ({ ...node, spec: spec(effect) }));
  expect(imageVolumeFindings(withTaint("NoSchedule"))).toEqual([]);
  expect(imageVolumeFindings(withTaint("PreferNoSchedule"))).toHaveLength(1);
  expect(imageVolumeNote([...nodesOf(fine), ...withTaint("NoSchedule")])).toBeUndefined();
});

test("a node without a status cannot mount images, and without nodes there is no note, and no finding", () => {
  expect(imageVolumeFindings([{ metadata: { name: "new" } }])).toHaveLength(1);
  expect(imageVolumeNote([])).toBeUndefined();
  expect(imageVolumeFindings([])).toEqual([]);
});

import { counted } from "../../../shared/core/wording.ts";
import type { Node, NodeInfo } from "../../api/core/objects.ts";
import type { Finding } from "./finding.ts";

type Version = readonly [major: number, minor: number];

/** The first kubelet with ImageVolume switched on (Kubernetes 1.35.0, pkg/features/kube_features.go:1369). */
const KUBELET: Version = [1, 35];

/**
 * The first version of each container runtime that mounts images, so that a program in them runs: containerd 2.1.0,
 * internal/cri/server/container_image_mount.go:68; CRI-O 1.31.0, server/container_create_linux.go:1285, whose overlay is
 * not noexec.
 */
const RUNTIMES: ReadonlyMap<string, Version> = new Map([
  ["containerd", [2, 1]],
  ["cri-o", [1, 31]],
]);

/** What is needed, as messages have it. */
const NEEDED = `kubelet ${KUBELET.join(".")} and ${[...RUNTIMES].map(([name, from]) => `${name} ${from.join(".")}`).join(" or ")}`;

/** Returns what `--volume image` would save the pods of a cluster; undefined if one of its nodes cannot mount images. */
export function imageVolumeNote(nodes: readonly Node[]): string | undefined {
  const infos = nodes.map(infoOf).filter(runsEbb);
  if (infos.length === 0 || !infos.every(mountsImages)) return undefined;
  return "all nodes can mount ebb's image: with --volume image (Helm: webhook.volume) a pod starts about as fast as without ebb, and takes 99 MB less of the node's disk; first check the node pools that are scaled to zero (ebb help versions)";
}

/**
 * Returns a finding for nodes that cannot mount ebb's image, where the webhook has `--volume image`: one for all nodes of
 * the same versions. Those that keep pods off as control planes do are left out.
 */
export function imageVolumeFindings(nodes: readonly Node[]): readonly Finding[] {
  const byVersions = Map.groupBy(
    nodes.filter((node) => runsEbb(infoOf(node)) && !isControlPlane(node) && !mountsImages(infoOf(node))),
    (node) => versionsOf(infoOf(node)),
  );
  return [...byVersions].map(([versions, [first, ...others]]) => {
    const all = others.length === 0 ? "it" : `it and ${counted(others.length, "node")} like it`;
    const message = `${all} cannot mount ebb's image, as --volume image of the webhook needs (Helm: webhook.volume), so a pod with ebb that comes there does not start: ${versions}, but ${NEEDED}, or newer, are needed: upgrade, or use --volume emptyDir`;
    return { object: `Node ${first?.metadata.name}`, message };
  });
}

const untold: NodeInfo = { operatingSystem: "", kubeletVersion: "", containerRuntimeVersion: "" };

function infoOf({ status }: Node): NodeInfo {
  return status?.nodeInfo ?? untold;
}

function runsEbb({ operatingSystem }: NodeInfo): boolean {
  return operatingSystem !== "windows";
}

function isControlPlane({ spec: { taints = [] } = {} }: Node): boolean {
  return taints.some(
    ({ key, effect }) => key === "node-role.kubernetes.io/control-plane" && effect !== "PreferNoSchedule",
  );
}

function versionsOf({ kubeletVersion, containerRuntimeVersion }: NodeInfo): string {
  return `kubelet ${kubeletVersion || "unknown"} and ${containerRuntimeVersion || "an unknown runtime"}`;
}

function mountsImages({ kubeletVersion, containerRuntimeVersion }: NodeInfo): boolean {
  const [runtime = "", version = ""] = containerRuntimeVersion.split("://");
  return isAtLeast(kubeletVersion, KUBELET) && isAtLeast(version, RUNTIMES.get(runtime));
}

function isAtLeast(version: string, least: Version | undefined): boolean {
  if (least === undefined) return false;
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > least[0] || (Number(major) === least[0] && Number(minor) >= least[1]);
}

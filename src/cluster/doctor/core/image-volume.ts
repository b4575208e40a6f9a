import { type JsonObject, objectOf, textOf } from "../../../shared/core/json.ts";

/** The least that mounts an image as a volume: of the kubelet, and of containerd. */
const LEAST = { kubelet: [1, 35], containerd: [2, 1] } as const;

/**
 * Returns what `--volume image` would save the pods of a cluster, if all its nodes can mount ebb's image. Returns undefined
 * if one cannot, or another runtime than containerd runs there: no test knows it.
 */
export function imageVolumeNote(nodes: readonly JsonObject[]): string | undefined {
  const infos = nodes.map(({ status }) => objectOf(objectOf(status).nodeInfo));
  const canMount = ({ kubeletVersion, containerRuntimeVersion }: JsonObject): boolean =>
    isAtLeast(kubeletVersion, /^v(\d+)\.(\d+)/, LEAST.kubelet) &&
    isAtLeast(containerRuntimeVersion, /^containerd:\/\/v?(\d+)\.(\d+)/, LEAST.containerd);
  if (infos.length === 0 || !infos.every(canMount)) return undefined;
  return "all nodes can mount ebb's image: with --volume image (Helm: webhook.volume) a pod needs no init container ebb-install and no copy of ebb, which take 0.5 s of its start and 99 MB of the node's disk";
}

function isAtLeast(version: unknown, pattern: RegExp, [major, minor]: readonly [number, number]): boolean {
  const [, ours, own] = pattern.exec(textOf(version) ?? "") ?? [];
  return Number(ours) > major || (Number(ours) === major && Number(own) >= minor);
}

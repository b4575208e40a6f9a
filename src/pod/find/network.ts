import type { Settings } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { readIfThere } from "../../shared/io/file.ts";
import { isNodes, type Network, networkByHosts } from "./core/network.ts";

/** The longest time for which /etc/hosts may be empty. */
const LONGEST_REWRITE_MS = 1000;

/** Resolves with whose the network is, by `--host-network`, else by /etc/hosts and mountinfo. */
export async function readNetwork({ hostNetwork }: Settings<"hostNetwork">, env: Environment): Promise<Network> {
  if (hostNetwork !== undefined) return hostNetwork ? "node" : "own";
  return networkByHosts(await hosts(), readIfThere("/proc/self/mountinfo"), env);
}

/** Resolves with whether `--host-network`, else /etc/hosts, shows that the network is the node's. */
export async function isOnNode({ hostNetwork }: Settings<"hostNetwork">): Promise<boolean> {
  return hostNetwork ?? isNodes((await hosts()) ?? "");
}

let reading: Promise<string | undefined> | undefined;

/** Resolves with the text of /etc/hosts, which is read once: whose network it shows does not change. */
function hosts(): Promise<string | undefined> {
  reading ??= readHosts();
  return reading;
}

/**
 * Resolves with the text of /etc/hosts; undefined if it cannot be read. Waits while it is empty: the kubelet writes it again
 * for each container of the pod that it starts, and truncates it first (kubernetes pkg/kubelet/kubelet_pods.go,
 * ensureHostsFile).
 */
async function readHosts(): Promise<string | undefined> {
  const end = performance.now() + LONGEST_REWRITE_MS;
  for (;;) {
    const text = readIfThere("/etc/hosts");
    if (text !== "" || performance.now() >= end) return text;
    await Bun.sleep(1);
  }
}

import type { Settings } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { readIfThere } from "../../shared/io/file.ts";
import { type Network, networkByHosts } from "./core/network.ts";

/** The longest time for which /etc/hosts may be empty. */
const LONGEST_REWRITE_MS = 1000;

/**
 * Resolves with whose the network is, by `--host-network`, else by /etc/hosts and mountinfo. Waits while /etc/hosts is
 * empty: the kubelet writes it again for each container of the pod that it starts, and truncates it first (kubernetes
 * pkg/kubelet/kubelet_pods.go, ensureHostsFile).
 */
export async function readNetwork({ hostNetwork }: Settings<"hostNetwork">, env: Environment): Promise<Network> {
  if (hostNetwork !== undefined) return hostNetwork ? "node" : "own";
  const end = performance.now() + LONGEST_REWRITE_MS;
  while (readIfThere("/etc/hosts") === "" && performance.now() < end) await Bun.sleep(1);
  return networkByHosts(readIfThere("/etc/hosts"), readIfThere("/proc/self/mountinfo"), env);
}

import type { SidecarStatus, Snapshot } from "../../src/pod/status/core/snapshot.ts";
import { run } from "./life.ts";
import type { Pod } from "./pod.ts";

/** Returns what `ebb status` says of a pod and of its only sidecar, without what differs from run to run. */
export async function stableStatus(pod: Pod, env: Readonly<Record<string, string>> = {}) {
  const { stdout, stderr } = await run(pod, ["status", "--json"], env);
  const { foundBy, sidecars, findings, sockets } = JSON.parse(stdout) as Snapshot;
  const ports = sockets?.listening.flatMap(({ protocol, port }) => (protocol.startsWith("tcp") ? [port ?? 0] : []));
  return {
    stderr,
    foundBy,
    sidecars: sidecars.map(stable),
    // `app-unseen` is among them, because here `ebb status` runs in a container of its own
    findings: findings.map(({ kind }) => kind),
    ports: [...new Set(ports)].toSorted((one, other) => one - other),
  };
}

function stable({ envoy, ...sidecar }: SidecarStatus) {
  if (envoy === null) return { ...sidecar, envoy };
  const { uptimeMs: _, ...rest } = envoy;
  const listeners = rest.listeners?.map(({ name, address, direction }) => `${name} ${address} ${direction}`).toSorted();
  return { ...sidecar, envoy: { ...rest, listeners } };
}

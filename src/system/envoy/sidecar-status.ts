import { type EnvoyStatus, envoyStatus } from "../../core/envoy/status.ts";
import { describeProbe, type Probe } from "../../core/sidecars/probe.ts";
import { inboundOf } from "../../core/sidecars/registry.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { ProbeStatus, SidecarStatus } from "../../core/status/snapshot.ts";
import { readSocketsOf } from "../process/sockets.ts";
import { probeOnce } from "../sidecars/ready.ts";
import { askForStatus } from "./ask-status.ts";

/**
 * Asks a sidecar for its state, each request for at most `withinMs`, all at the same time. What does not answer is part
 * of the state: never rejects. The state names the addresses of `shown`, which may be those inside another pod.
 */
export async function statusOf(sidecar: Sidecar, withinMs: number, shown = sidecar): Promise<SidecarStatus> {
  const { name, isNative, ready, envoy } = sidecar;
  const [probes, envoyState] = await Promise.all([
    Promise.all(ready.map((each, at) => probe(each, withinMs, shown.ready[at]))),
    envoy && stateOf(name, envoy, { withinMs, shown: shown.envoy ?? envoy }),
  ]);
  return { name, native: isNative, ready: probes.every(({ ready }) => ready), probes, envoy: envoyState ?? null };
}

type Envoy = NonNullable<Sidecar["envoy"]>;

async function stateOf(
  name: Sidecar["name"],
  envoy: Envoy,
  { withinMs, shown }: { readonly withinMs: number; readonly shown: Envoy },
): Promise<EnvoyStatus> {
  const inbound = inboundOf(name);
  const sockets = readSocketsOf(envoy);
  const answers = await askForStatus(envoy, { withinMs, inbound });
  return envoyStatus({ ...shown, inbound, sockets }, answers);
}

async function probe(probe: Probe, withinMs: number, shown = probe): Promise<ProbeStatus> {
  const verdict = await probeOnce(probe, withinMs);
  return { target: describeProbe(shown), ready: verdict.ready, reason: verdict.ready ? null : verdict.reason };
}

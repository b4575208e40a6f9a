import { describeProbe, type Probe } from "../../shared/sidecars/core/probe.ts";
import { inboundOf } from "../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { askForStatus } from "../envoy/ask-status.ts";
import { type EnvoyStatus, envoyStatus } from "../envoy/core/status.ts";
import { probeOnce } from "../probe/ready.ts";
import { readSocketsOf } from "../process/sockets.ts";
import type { ProbeStatus, SidecarStatus } from "./core/snapshot.ts";

/**
 * Asks a sidecar for its state, each request for at most `withinMs`, all at the same time. What does not answer is part
 * of the state: never rejects.
 */
export async function askSidecarStatus(
  { name, isNative, ready, envoy }: Sidecar,
  withinMs: number,
): Promise<SidecarStatus> {
  const [probes, envoyState] = await Promise.all([
    Promise.all(ready.map((each) => probe(each, withinMs))),
    envoy && stateOf(name, envoy, withinMs),
  ]);
  const areReady = probes.length === 0 ? null : probes.every(({ ready }) => ready);
  return { name, native: isNative, ready: areReady, probes, envoy: envoyState ?? null };
}

async function stateOf(
  name: Sidecar["name"],
  envoy: NonNullable<Sidecar["envoy"]>,
  withinMs: number,
): Promise<EnvoyStatus> {
  const inbound = inboundOf(name);
  const sockets = readSocketsOf(envoy);
  const answers = await askForStatus(envoy, { withinMs, inbound });
  return envoyStatus({ ...envoy, inbound, sockets }, answers);
}

async function probe(probe: Probe, withinMs: number): Promise<ProbeStatus> {
  const verdict = await probeOnce(probe, withinMs);
  return { target: describeProbe(probe), ready: verdict.ready, reason: verdict.ready ? null : verdict.reason };
}

import { type Address, isLoopback } from "../../shared/core/address.ts";
import { tryConnect } from "../../shared/http/connection.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import { acceptsConnections, refusesConnections, tcpCheckAt } from "../../shared/http/tcp-check.ts";
import { abortedAfter } from "../../shared/io/timer.ts";
import { addressOf, chooseJudge, firstOf, isAt, type Probe } from "../../shared/sidecars/core/probe.ts";
import { kindOf } from "../../shared/sidecars/core/registry.ts";
import type { QuitRequest, Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { clientFor } from "../probe/probers/server.ts";
import { LOOPBACK_MS } from "../probe/ready.ts";
import type { SidecarLife } from "./core/quitting-steps.ts";

/**
 * Asks the readiness endpoint of a sidecar, whose quit was refused at `quitAddress`, whether the sidecar still lives:
 * `ready`, also if an alternative of it is; `leaving` if it answers that it is not ready; `gone` if it refuses connections
 * too, or it is on the port that has refused the quit; else `unknown`, also if the signal is aborted.
 */
export async function lifeOf({ ready }: Sidecar, quitAddress: Address, signal: AbortSignal): Promise<SidecarLife> {
  const alternatives = ready.flatMap((one) => (one.kind === "any" ? one.probes : []));
  const soon = AbortSignal.any([signal, abortedAfter(LOOPBACK_MS)]);
  const lives = await Promise.all(alternatives.map((probe) => lifeAt(probe, soon)));
  if (lives.includes("ready")) return "ready";
  const probes = ready.map(firstOf);
  if (probes.some((one) => isAt(one, quitAddress))) return "gone";
  return probes[0]?.kind === "http" ? lifeAt(probes[0], signal) : "unknown";
}

async function lifeAt(probe: Probe, signal: AbortSignal): Promise<SidecarLife> {
  if (probe.kind === "connect")
    return isLoopback(probe.address) && tcpCheckAt(probe.address)?.() === "open" ? "ready" : "unknown";
  if (probe.kind !== "http") return "unknown";
  using client = clientFor(probe);
  try {
    const request = { method: "GET", target: probe.target, headers: probe.headers ?? [] };
    return chooseJudge(probe)(await client.request(request, signal)).ready ? "ready" : "leaving";
  } catch (error) {
    return error instanceof RequestFailed && error.kind === "refused" ? "gone" : "unknown";
  }
}

/** Resolves with true once an address refuses connections, with false if the signal is aborted first. */
export async function watchItClose(address: Address, signal: AbortSignal): Promise<boolean> {
  for (let waitMs = 1; !signal.aborted; waitMs = Math.min(waitMs * 1.2, 25)) {
    if (await isClosed(address, signal)) return true;
    await Bun.sleep(waitMs);
  }
  return false;
}

/** What is to be absent. */
interface Absence {
  readonly sidecar: Sidecar;
  readonly addresses: readonly Address[];
  readonly fromMs: number;
}

/** So long all ports of a sidecar must refuse connections, to be sure that it is not just about to open them. */
const ABSENT_MS = 1000;
const ABSENT_PERIOD_MS = 25;

/**
 * Resolves with true once all these addresses of a sidecar have refused connections for a second, and until `fromMs`
 * (performance.now()), and none of its programs is seen to run (as in its own container); with false if the signal is
 * aborted first.
 */
export async function watchAbsence({ sidecar, addresses, fromMs }: Absence, signal: AbortSignal): Promise<boolean> {
  for (let since = performance.now(); !signal.aborted; await Bun.sleep(ABSENT_PERIOD_MS)) {
    const now = performance.now();
    if (!addresses.every(refusesConnections)) since = now;
    else if (now - since >= ABSENT_MS && now >= fromMs) {
      if (!(await isSeen(sidecar))) return !signal.aborted;
      since = performance.now();
    }
  }
  return false;
}

/** Returns where a sidecar may listen, as far as its requests show. */
export function addressesOf({ quits, ready, envoy, alwaysOpen }: Sidecar): readonly Address[] {
  const probes = ready.flatMap((probe) => (probe.kind === "any" ? probe.probes : [probe]));
  return [
    ...quits.filter(({ isAdditional }) => isAdditional !== true).flatMap(addressesOfQuit),
    ...probes.flatMap((probe) => addressOf(probe) ?? []),
    ...(envoy === undefined ? [] : [envoy.admin.address]),
    ...(alwaysOpen === undefined ? [] : [alwaysOpen]),
  ];
}

/** Returns where a quit may be sent. */
export function addressesOfQuit({ target, fallback }: QuitRequest): readonly Address[] {
  return fallback === undefined ? [target.address] : [target.address, fallback.target.address];
}

/** The kubelet restarts a container that has ended for the first time at once: some 0.7 s later it runs. */
const RETURN_MS = 2000;

/** Resolves with whether an address accepts connections within two seconds, or before the signal is aborted. */
export async function awaitReturn(address: Address, signal: AbortSignal): Promise<boolean> {
  for (const end = performance.now() + RETURN_MS; performance.now() < end; await Bun.sleep(ABSENT_PERIOD_MS)) {
    if (signal.aborted) return false;
    if (!(await isClosed(address, signal))) return true;
  }
  return false;
}

async function isSeen({ name }: Sidecar): Promise<boolean> {
  if (name === "custom") return false;
  const { isAnyRunning } = await import("../process/end-processes.ts");
  return isAnyRunning(kindOf(name).programs);
}

/** On loopback it takes one system call, which leaves nothing behind. */
async function isClosed(address: Address, signal: AbortSignal): Promise<boolean> {
  if (address.kind === "unix") return !acceptsConnections(address.path);
  if (isLoopback(address)) return refusesConnections(address);
  try {
    await tryConnect(address, signal);
  } catch (error) {
    return error instanceof RequestFailed;
  }
  return false;
}

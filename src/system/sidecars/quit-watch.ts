import { type Address, isLoopback } from "../../core/base/address.ts";
import type { Header } from "../../core/base/http-framing.ts";
import { chooseJudge, type Probe } from "../../core/sidecars/probe.ts";
import type { Event, Life } from "../../core/sidecars/quitting.ts";
import type { QuitRequest, Sidecar } from "../../core/sidecars/sidecar.ts";
import { tryConnect } from "../http/http.ts";
import { RequestFailed } from "../http/request-failed.ts";
import { acceptsConnections, tcpCheckAt } from "../http/tcp-check.ts";
import type { Queue } from "../queue.ts";
import { clientFor } from "./prober.ts";
import type { Ask } from "./quit-request.ts";
import { probeOnce } from "./ready.ts";

export interface Quit {
  readonly sidecar: Sidecar;
  readonly quit: QuitRequest;
  /** Called when it was answered, or has failed, for the first time. */
  readonly onHeard?: () => void;
}

/** What a quit's actions share. */
export interface Quitting extends Quit {
  readonly options: QuitOptions;
  readonly queue: Queue<Event>;
  /** Ends what is under way when the quit is over. */
  readonly over: AbortSignal;
  /** What is asked now, and since when. */
  asked: QuitRequest;
  since: number;
}

/** Asks a sidecar that was told to quit whether it still lives. */
export async function lifeOf({ sidecar, asked, over }: Quitting): Promise<Life> {
  const { ready } = sidecar;
  for (const probe of ready) if (probe.kind === "any" && (await probeOnce(probe, LOOK_MS)).ready) return "ready";
  const probes = ready.map(firstOf);
  const [probe] = probes;
  if (probes.some((probe) => isAt(probe, asked.target.address))) return "gone";
  if (probe?.kind !== "http") return "unknown";
  using client = clientFor(probe);
  try {
    const request = { method: "GET", target: probe.target, headers: [] };
    return chooseJudge(probe)(await client.request(request, over)).ready ? "ready" : "leaving";
  } catch (error) {
    return error instanceof RequestFailed && error.kind === "refused" ? "gone" : "unknown";
  }
}

/** Loopback answers at once. */
export const LOOK_MS = 250;

export type OneProbe = Exclude<Probe, { kind: "any" }>;

/** Returns the first probe of several alternatives: the sidecar's own endpoint. */
export function firstOf(probe: Probe): OneProbe {
  return probe.kind === "any" ? firstOf(probe.probes[0] as Probe) : probe;
}

/** Whether a probe asks the server at this address: the same socket, or the same port. */
export function isAt(probe: OneProbe, address: Address): boolean {
  if (probe.kind === "file") return false;
  const own = probe.kind === "http" ? probe.target.address : probe.address;
  if (own.kind === "unix" || address.kind === "unix") return Bun.deepEquals(own, address);
  return own.port === address.port;
}

/** True once nobody accepts connections there any more, false when the quit is over first. */
export async function watchItGo({ asked: { target }, over }: Quitting): Promise<boolean> {
  for (let waitMs = 1; !over.aborted; waitMs = Math.min(waitMs * 1.2, 25)) {
    if (await isGone(target.address, over)) return true;
    await Bun.sleep(waitMs);
  }
  return false;
}

/** Whether nobody listens at an address. On loopback by a system call, which leaves nothing behind. */
export async function isGone(address: Address, signal: AbortSignal): Promise<boolean> {
  if (isLoopback(address)) return !isOpen(address);
  try {
    await tryConnect(address, signal);
  } catch (error) {
    return error instanceof RequestFailed;
  }
  return false;
}

/** Whether somebody accepts connections at an address. */
export function isOpen(address: Address): boolean {
  return address.kind === "unix" ? acceptsConnections(address.path) : tcpCheckAt(address)?.() !== "refused";
}

export interface QuitOptions {
  /** For each quit: until it was answered and the sidecar is gone. */
  readonly timeoutMs: number;
  /** For all of them; by default as long as it takes. */
  readonly withinMs?: number;
  readonly headers: readonly Header[];
  /** Whether the sidecars have been up: where nobody listens any more, they are gone, not late. */
  readonly wereReady: boolean;
  /** What asks instead of `askServer`. */
  readonly ask?: Ask;
}

/** What became of one quit. `ok`: the sidecar took it, and is gone where that can be seen, or leaves by itself. */
export interface QuitReport {
  readonly sidecar: Sidecar["name"];
  readonly request: string;
  readonly ok: boolean;
  readonly outcome: string;
  readonly status?: number;
  /** The stack of a bug in ebb. */
  readonly error?: string;
  readonly tookMs: number;
}

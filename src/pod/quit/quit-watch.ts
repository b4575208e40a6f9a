import { type Address, isLoopback } from "../../shared/core/address.ts";
import { tryConnect } from "../../shared/http/connection.ts";
import type { Header, HttpAnswer } from "../../shared/http/core/http-framing.ts";
import type { HttpRequest } from "../../shared/http/core/http-message.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import { acceptsConnections, tcpCheckAt } from "../../shared/http/tcp-check.ts";
import type { Queue } from "../../shared/io/queue.ts";
import { chooseJudge, type Probe } from "../../shared/sidecars/core/probe.ts";
import type { QuitRequest, Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { createHttpClient } from "../http/http.ts";
import { clientFor } from "../probe/prober.ts";
import { probeOnce } from "../probe/ready.ts";
import type { QuitEvent, SidecarLife } from "./core/quitting.ts";

/** One quit request to one sidecar. */
export interface Quit {
  readonly sidecar: Sidecar;
  readonly quit: QuitRequest;
  /** Called with each event of the quit, first when it is answered or has failed for the first time. */
  readonly onArrived?: () => void;
}

/** A quit that is under way, as its actions see it. */
export interface Quitting extends Quit {
  readonly options: QuitOptions;
  readonly queue: Queue<QuitEvent>;
  /** Is aborted when the quit is over, and ends what is still under way. */
  readonly over: AbortSignal;
  /** The request of the current attempt, which changes if the sidecar is asked elsewhere. */
  asked: QuitRequest;
  /** The address that accepted its connection: of both loopbacks one, of a host name one of its addresses. */
  acceptedAt: Address | undefined;
  /** When the current attempt began (performance.now()). */
  since: number;
}

/**
 * Asks the readiness endpoint of a sidecar, whose quit was refused, whether the sidecar still lives: `ready`; `leaving`
 * if it answers that it is not ready; `gone` if it refuses connections too, or it is on the port that has refused the
 * quit; else `unknown`.
 */
export async function lifeOf({ sidecar, asked, over }: Quitting): Promise<SidecarLife> {
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

/** How long a readiness endpoint on loopback, which answers at once, may take here. */
export const LOOK_MS = 250;

/** A probe without alternatives. */
export type OneProbe = Exclude<Probe, { kind: "any" }>;

/** Returns the first of a probe's alternatives, which is the sidecar's own endpoint; a probe without any as it is. */
export function firstOf(probe: Probe): OneProbe {
  return probe.kind === "any" ? firstOf(probe.probes[0] as Probe) : probe;
}

/**
 * Reports whether a probe asks the server at this address: at the same Unix socket, or on the same port of whatever
 * host.
 */
export function isAt(probe: OneProbe, address: Address): boolean {
  if (probe.kind === "file") return false;
  const own = probe.kind === "http" ? probe.target.address : probe.address;
  if (own.kind === "unix" || address.kind === "unix") return Bun.deepEquals(own, address);
  return own.port === address.port;
}

/**
 * Resolves with true once the address that took the quit refuses connections, with false if the quit is over
 * first.
 */
export async function watchItGo({ asked, acceptedAt = asked.target.address, over }: Quitting): Promise<boolean> {
  for (let waitMs = 1; !over.aborted; waitMs = Math.min(waitMs * 1.2, 25)) {
    if (await isGone(acceptedAt, over)) return true;
    await Bun.sleep(waitMs);
  }
  return false;
}

/**
 * Resolves with whether an address refuses connections; with false if the signal is aborted first. On
 * loopback it takes one system call, which leaves nothing behind.
 */
export async function isGone(address: Address, signal: AbortSignal): Promise<boolean> {
  if (isLoopback(address)) return !isOpen(address);
  try {
    await tryConnect(address, signal);
  } catch (error) {
    return error instanceof RequestFailed;
  }
  return false;
}

/**
 * Reports whether connections are accepted on a loopback address or Unix socket. Returns true for any other host.
 */
export function isOpen(address: Address): boolean {
  return address.kind === "unix" ? acceptsConnections(address.path) : tcpCheckAt(address)?.() !== "refused";
}

export interface QuitOptions {
  /** The time for each quit, until it was answered and the sidecar is gone. */
  readonly timeoutMs: number;
  /** The time for all of them; by default twice `timeoutMs`. */
  readonly withinMs?: number;
  /** The user's headers, for each request. */
  readonly headers: readonly Header[];
  /** Whether the sidecars have been up: if they refuse connections, they have exited, and are not late. */
  readonly wereReady: boolean;
  /** Sends a request, in the place of `askServer`. */
  readonly ask?: Ask;
}

/** The outcome of one quit, or of the signals to one process, in the form of log fields. */
export interface QuitReport {
  readonly sidecar: Sidecar["name"];
  /** The request as the log names it, or the signal's process. */
  readonly request: string;
  /** Whether the sidecar took the quit, and is gone as far as can be seen, or leaves by itself. */
  readonly ok: boolean;
  readonly outcome: string;
  /** The HTTP status of the last answer. */
  readonly status?: number;
  /** The stack of a bug in ebb. */
  readonly error?: string;
  readonly tookMs: number;
}

/**
 * Sends one request and resolves with its answer. Rejects with RequestFailed, or with the signal's reason if that is
 * aborted. `onConnect` gets the IP address that accepted the connection, as ClientOptions have it.
 */
export type Ask = (request: HttpRequest, signal: AbortSignal, onConnect?: (ip: string) => void) => Promise<HttpAnswer>;

/** Is the Ask that sends, over a connection of its own. It has no time limit but the signal. */
export const askServer: Ask = async (request, signal, onConnect) => {
  using client = createHttpClient({ onConnect });
  return await client.request(request, signal);
};

/** Returns the user's headers (`given`), and after them those of the quit's own that the user has not set. */
export function headersOf({ headers: own = [] }: QuitRequest, given: readonly Header[]): HttpRequest["headers"] {
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...given, ...own.filter(([name]) => !names.has(name.toLowerCase()))];
}

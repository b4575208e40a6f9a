import { type Address, hostsToDial, isLoopback } from "../core/address.ts";
import { ERRNO } from "../native/errno.ts";
import { native } from "../native/native.ts";
import { parseListeners } from "./core/listening.ts";
import { readListeners } from "./listeners.ts";

/**
 * What a connection attempt meets: `refused`, no listener; `silent`, a listener that accepts nothing,
 * with a full queue; `open`, anything else.
 */
export type TcpState = "open" | "refused" | "silent";

/**
 * Returns a function that checks a TCP port by a non-blocking connect(2), which loopback answers at once: of two
 * loopbacks `open` wins, then `silent`; one that this host does not have says nothing. For any other host the function
 * always returns `open`. Returns undefined for Unix sockets.
 *
 * It costs a tenth of Bun.connect, and leaves nothing behind if it is not answered.
 */
export function tcpCheckAt(address: Address): (() => TcpState) | undefined {
  if (address.kind === "unix") return undefined;
  const hosts = hostsToDial(address);
  return () => {
    let state: TcpState | undefined;
    for (const host of hosts) {
      const checked = tcpCheck(host, address.port);
      if (checked === "open") return checked;
      if (checked === "silent") state = checked;
      else state ??= checked;
    }
    return state ?? "open"; // a real attempt says why none can be reached
  };
}

/** Errors with which this host does not have a loopback address: IPv6 or IPv4 is off. */
const isAbsent: readonly number[] = [
  ...[ERRNO.EPERM, ERRNO.EACCES, ERRNO.EAFNOSUPPORT, ERRNO.EADDRNOTAVAIL],
  ...[ERRNO.ENETDOWN, ERRNO.ENETUNREACH, ERRNO.EHOSTUNREACH],
];

/**
 * Checks a TCP port of an IP address as `tcpCheckAt` does. Returns undefined if this host does not have the address, or
 * drops its packets.
 */
export function tcpCheck(ip: string, port: number): TcpState | undefined {
  const error = -native.checkConnect(ip, port);
  if (error === ERRNO.ECONNREFUSED) return "refused";
  if (error === ERRNO.EINPROGRESS) return mayListen(port) ? "silent" : undefined;
  return isAbsent.includes(error) ? undefined : "open"; // a real attempt says why anything else happens
}

function mayListen(port: number): boolean {
  const listeners = readListeners();
  return listeners === undefined || parseListeners(listeners).includes(port);
}

/** Reports whether a Unix socket has a listener and lets this user connect, by a connect(2) that does not wait. */
export function acceptsConnections(path: string): boolean {
  return isUnixOpen.includes(-native.checkConnect(path, 0));
}

/**
 * Reports whether an address refuses connections for sure: a port of a loopback without a listener, or a Unix socket that
 * nobody listens to any more. False for any other host.
 */
export function refusesConnections(address: Address): boolean {
  if (address.kind === "unix") return -native.checkConnect(address.path, 0) === ERRNO.ECONNREFUSED;
  return isLoopback(address) && tcpCheckAt(address)?.() === "refused";
}

/**
 * Results with a listener, whose queue may be full; or without a descriptor left, about which a real attempt says more.
 */
const isUnixOpen: readonly number[] = [0, ERRNO.EAGAIN, ERRNO.EMFILE, ERRNO.ENFILE];

/** The address on which the proxy of one run listens. */
export type Place = { readonly unix: string } | TcpPlace;

export interface TcpPlace {
  readonly hostname: string;
  readonly port: number;
}

const AF_UNIX = 1;
const AF_INET = 2;
/** The port of all proxies: any that is not a sidecar's, because each run has an address of its own. */
const PORT = 18_018;

let used = Math.floor(Math.random() * 60_000);

/**
 * Returns another address of the loopback, which nobody else uses: connections of this machine come from 127.0.0.1, so
 * that no client's port takes the proxy's while it is closed.
 */
export function nextAddress(): TcpPlace {
  used = (used + 1) % 60_000;
  return { hostname: `127.${64 + (process.pid % 128)}.${used >> 8}.${used & 255}`, port: PORT };
}

/** Returns the value for --admin. */
export function urlOf(place: Place): string {
  return "unix" in place ? `unix:${place.unix}` : `http://${place.hostname}:${place.port}`;
}

/** Encodes a place as a struct sockaddr_un or sockaddr_in (unix(7), ip(7)). */
export function encodeAddress(place: Place): Uint8Array {
  if ("unix" in place) return Uint8Array.from([AF_UNIX, 0, ...new TextEncoder().encode(place.unix), 0]);
  const { hostname, port } = place;
  return Uint8Array.from([
    AF_INET,
    0,
    port >> 8,
    port & 255,
    ...hostname.split(".").map(Number),
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
}

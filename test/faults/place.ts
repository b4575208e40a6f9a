/** Where the proxy of one run listens. */
export type Place = { readonly unix: string } | TcpPlace;

export interface TcpPlace {
  readonly hostname: string;
  readonly port: number;
}

const AF_UNIX = 1;
const AF_INET = 2;
/** Any will do that is no sidecar's, because each run has an address of its own. */
const PORT = 18_018;

let used = Math.floor(Math.random() * 60_000);

/**
 * An address of the loopback that nobody else uses: connections of this machine come from 127.0.0.1, so that a port which
 * is closed for a while is never somebody's own.
 */
export function nextAddress(): TcpPlace {
  used = (used + 1) % 60_000;
  return { hostname: `127.${64 + (process.pid % 128)}.${used >> 8}.${used & 255}`, port: PORT };
}

/** For --admin. */
export function urlOf(place: Place): string {
  return "unix" in place ? `unix:${place.unix}` : `http://${place.hostname}:${place.port}`;
}

/** struct sockaddr_un or sockaddr_in (unix(7), ip(7)). */
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

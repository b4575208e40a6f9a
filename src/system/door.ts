import { type Address, loopbacks } from "../core/address.ts";
import { ERRNO } from "./errno.ts";
import { native } from "./native.ts";

const AF_UNIX = 1;
/** sizeof(sockaddr_un.sun_path): unix(7). */
const SUN_PATH = 108;
const AF_INET = 2;
const AF_INET6 = 10;

/** `refused`: nobody listens there. `silent`: somebody listens, but accepts nothing, and has its queue full. */
export type Door = "open" | "refused" | "silent";

/**
 * What connect(2) without waiting says, which loopback answers at once, at a tenth of what Bun.connect costs; and, unlike
 * that, it leaves nothing behind where it is not answered. Undefined where only a real attempt can tell (other hosts, unix
 * sockets).
 */
export function doorAt(address: Address): (() => Door) | undefined {
  if (address.kind === "unix") return undefined;
  const knocks = loopbacks(address.host).map((host) => knockAt(host, address.port));
  return () => {
    let door: Door = "refused";
    for (const knock of knocks) {
      const heard = knock?.() ?? "open";
      if (heard === "open") return heard;
      if (heard === "silent") door = heard;
    }
    return door;
  };
}

/** Whether somebody listens on a unix socket, and lets this user connect: what connect(2) without waiting says. */
export function acceptsConnections(path: string): boolean {
  const address = new Uint8Array(2 + SUN_PATH);
  address[0] = AF_UNIX;
  if (new TextEncoder().encodeInto(path, address.subarray(2, -1)).read < path.length) return false;
  return isUnixOpen.includes(-native.checkConnect(address));
}

/** Its queue is full; or ebb has no descriptor left, and a real attempt says why. */
const isUnixOpen: readonly number[] = [0, ERRNO.EAGAIN, ERRNO.EMFILE, ERRNO.ENFILE];

function knockAt(host: string, port: number): (() => Door) | undefined {
  const address = loopbackAddress(host, port);
  if (address === undefined) return undefined;
  return () => {
    const result = native.checkConnect(address);
    if (result === -ERRNO.ECONNREFUSED) return "refused";
    return result === -ERRNO.EINPROGRESS ? "silent" : "open"; // of anything else a real attempt says why
  };
}

/** sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)); undefined for what is neither in 127.0.0.0/8 nor ::1. */
function loopbackAddress(host: string, port: number): Uint8Array | undefined {
  const bigEndian = [port >> 8, port & 255];
  if (host === "::1") return Uint8Array.from([AF_INET6, 0, ...bigEndian, ...zeros(4), ...zeros(15), 1, ...zeros(4)]);
  if (!/^127(\.\d+){3}$/.test(host)) return undefined;
  return Uint8Array.from([AF_INET, 0, ...bigEndian, ...host.split(".").map(Number), ...zeros(8)]);
}

function zeros(count: number): readonly number[] {
  return new Array<number>(count).fill(0);
}

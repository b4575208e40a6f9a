import { type Address, hostsToDial } from "../../core/base/address.ts";
import { ERRNO } from "../native/errno.ts";
import { native } from "../native/native.ts";

/** `refused`: nobody listens there. `silent`: somebody listens, but accepts nothing, and has its queue full. */
export type TcpState = "open" | "refused" | "silent";

/**
 * Returns a check by a non-blocking connect(2), which loopback answers at once; undefined for other hosts and Unix sockets.
 *
 * It costs a tenth of Bun.connect, and leaves nothing behind where it is not answered.
 */
export function tcpCheckAt(address: Address): (() => TcpState) | undefined {
  if (address.kind === "unix") return undefined;
  const hosts = hostsToDial(address.host);
  return () => {
    let state: TcpState = "refused";
    for (const host of hosts) {
      const heard = tcpCheck(host, address.port);
      if (heard === "open") return heard;
      if (heard === "silent") state = heard;
    }
    return state;
  };
}

function tcpCheck(host: string, port: number): TcpState {
  const result = native.checkConnect(host, port);
  if (result === -ERRNO.ECONNREFUSED) return "refused";
  return result === -ERRNO.EINPROGRESS ? "silent" : "open"; // of anything else a real attempt says why
}

/** Whether somebody listens on a unix socket, and lets this user connect: what connect(2) without waiting says. */
export function acceptsConnections(path: string): boolean {
  return isUnixOpen.includes(-native.checkConnect(path, 0));
}

/** Its queue is full; or ebb has no descriptor left, and a real attempt says why. */
const isUnixOpen: readonly number[] = [0, ERRNO.EAGAIN, ERRNO.EMFILE, ERRNO.ENFILE];

import { type Address, hostsToDial } from "../../core/base/address.ts";
import { ERRNO } from "../native/errno.ts";
import { native } from "../native/native.ts";

/**
 * What a connection attempt meets: `refused`, no listener; `silent`, a listener that accepts nothing,
 * with a full queue; `open`, anything else.
 */
export type TcpState = "open" | "refused" | "silent";

/**
 * Returns a function that checks a TCP port by a non-blocking connect(2), which loopback answers at once: of two
 * loopbacks `open` wins, then `silent`. For any other host the function always returns `open`. Returns undefined for
 * Unix sockets.
 *
 * It costs a tenth of Bun.connect, and leaves nothing behind if it is not answered.
 */
export function tcpCheckAt(address: Address): (() => TcpState) | undefined {
  if (address.kind === "unix") return undefined;
  const hosts = hostsToDial(address.host);
  return () => {
    let state: TcpState = "refused";
    for (const host of hosts) {
      const checked = tcpCheck(host, address.port);
      if (checked === "open") return checked;
      if (checked === "silent") state = checked;
    }
    return state;
  };
}

function tcpCheck(host: string, port: number): TcpState {
  const result = native.checkConnect(host, port);
  if (result === -ERRNO.ECONNREFUSED) return "refused";
  return result === -ERRNO.EINPROGRESS ? "silent" : "open"; // a real attempt says why anything else happens
}

/** Reports whether a Unix socket has a listener and lets this user connect, by a connect(2) that does not wait. */
export function acceptsConnections(path: string): boolean {
  return isUnixOpen.includes(-native.checkConnect(path, 0));
}

/**
 * Results with a listener, whose queue may be full; or without a descriptor left, about which a real attempt says more.
 */
const isUnixOpen: readonly number[] = [0, ERRNO.EAGAIN, ERRNO.EMFILE, ERRNO.ENFILE];

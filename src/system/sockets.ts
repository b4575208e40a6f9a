import type { SocketTables } from "../core/proc-net.ts";
import { readIfThere } from "./file.ts";

/** The sockets of this network namespace, which the containers of a pod share. */
export function readSocketTables(): SocketTables {
  return {
    tcp: readIfThere("/proc/net/tcp"),
    tcp6: readIfThere("/proc/net/tcp6"),
    unix: readIfThere("/proc/net/unix"),
  };
}

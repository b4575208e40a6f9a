import type { SocketTables } from "../core/proc-net.ts";
import { type Listener, listenersIn } from "../core/sidecars/detect.ts";
import { readIfThere } from "./file.ts";
import type { Log } from "./log.ts";
import { native } from "./native.ts";

/** The sockets of this network namespace, which the containers of a pod share. */
export function readSocketTables(): SocketTables {
  return {
    tcp: readIfThere("/proc/net/tcp"),
    tcp6: readIfThere("/proc/net/tcp6"),
    unix: readIfThere("/proc/net/unix"),
  };
}

/**
 * The TCP sockets that listen in it. The kernel tells by netlink at once; a read of /proc/net/tcp takes it some milliseconds, and
 * is for where a seccomp profile forbids netlink.
 */
export function readListeners(log: Log): readonly Listener[] {
  const told = native.listeners();
  if (told !== undefined) return listenersIn(told);
  const tables = [readIfThere("/proc/net/tcp"), readIfThere("/proc/net/tcp6")].filter((table) => table !== undefined);
  if (tables.length === 0) log.debug({}, "no /proc/net/tcp: ports that listen cannot be seen");
  return tables.flatMap(listenersIn);
}

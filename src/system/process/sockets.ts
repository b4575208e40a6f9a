import { memoizeLast } from "../../core/base/memoize-last.ts";
import type { SocketTables } from "../../core/proc/net.ts";
import { type ListeningPort, parseListeners } from "../../core/sidecars/detect.ts";
import { readIfThere } from "../file.ts";
import { native } from "../native/native.ts";
import type { Log } from "../output/log.ts";

/** Reads the sockets of this network namespace, which the containers of a pod share, from /proc/net. */
export function readSocketTables(): SocketTables {
  return {
    tcp: readIfThere("/proc/net/tcp"),
    tcp6: readIfThere("/proc/net/tcp6"),
    unix: readIfThere("/proc/net/unix"),
  };
}

/** Lists the TCP sockets that listen in this network namespace; empty where the kernel tells nothing. */
export function readListeners(log: Log): readonly ListeningPort[] {
  return createListenerReader(log)();
}

/** Returns a function that lists the listening TCP sockets. It parses what the kernel says only when that has changed. */
export function createListenerReader(log: Log): () => readonly ListeningPort[] {
  const listeners = memoizeLast(({ told }: { readonly told: string }) => parseListeners(told));
  let last = { told: "" };
  return () => {
    const told = native.listeners();
    if (told === undefined) return readTables(log);
    if (told !== last.told) last = { told };
    return listeners(last);
  };
}

/** Reads /proc/net/tcp, where a seccomp profile forbids netlink. This takes milliseconds, netlink hardly any. */
function readTables(log: Log): readonly ListeningPort[] {
  const tables = [readIfThere("/proc/net/tcp"), readIfThere("/proc/net/tcp6")].filter((table) => table !== undefined);
  if (tables.length === 0) log.debug({}, "cannot read /proc/net/tcp: listening ports are unknown");
  return tables.flatMap(parseListeners);
}

import { memoizeLast } from "../../shared/core/memoize-last.ts";
import { parseListeners } from "../../shared/http/core/listening.ts";
import { readListeners } from "../../shared/http/listeners.ts";
import { readIfThere } from "../../shared/io/file.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { isOwnAddress, type SocketTables } from "./core/net.ts";

/**
 * Reads the sockets of this network namespace, which the containers of a pod share, from /proc/net: each table as text,
 * undefined if it cannot be read.
 */
export function readSocketTables(): SocketTables {
  return {
    tcp: readIfThere("/proc/net/tcp"),
    tcp6: readIfThere("/proc/net/tcp6"),
    unix: readIfThere("/proc/net/unix"),
  };
}

/** Reads the sockets of the network namespace of an Envoy. Returns undefined if that is not this one. */
export function readSocketsOf({ admin }: NonNullable<Sidecar["envoy"]>): SocketTables | undefined {
  const tables = readSocketTables();
  return isOwnAddress(admin.address, tables) ? tables : undefined;
}

/**
 * Creates a function that lists the TCP ports, IPv4 and IPv6, that listen in this network namespace, and parses the
 * kernel's text only if it has changed.
 */
export function createListenerReader(log: Log): () => readonly number[] {
  const listeners = memoizeLast(({ table }: { readonly table: string }) => parseListeners(table));
  let last = { table: "" };
  return () => {
    const table = readListeningSockets(log);
    if (table !== last.table) last = { table };
    return listeners(last);
  };
}

/**
 * Reads the TCP sockets that listen in this network namespace, as `readListeners` does. Returns "" if they cannot be
 * read, which is logged at debug.
 */
export function readListeningSockets(log: Log): string {
  const table = readListeners();
  if (table === undefined) log.debug({}, "cannot read /proc/net/tcp: listening ports are unknown");
  return table ?? "";
}

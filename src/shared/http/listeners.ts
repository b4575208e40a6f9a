import { readIfThere } from "../io/file.ts";
import { native } from "../native/native.ts";

/**
 * Reads the TCP sockets, IPv4 and IPv6, that listen in this network namespace, as lines of /proc/net/tcp and tcp6. There
 * may be others among them if netlink has none, as under a seccomp profile or in gVisor: this then takes milliseconds,
 * and otherwise hardly any. Returns undefined if /proc/net/tcp cannot be read either.
 */
export function readListeners(): string | undefined {
  const table = native.listeners();
  if (table !== undefined) return table;
  const tables = [readIfThere("/proc/net/tcp"), readIfThere("/proc/net/tcp6")].filter((table) => table !== undefined);
  return tables.length === 0 ? undefined : tables.join("");
}

/** Parses the ports in LISTEN state in /proc/net/tcp or tcp6 (kernel: Documentation/networking/proc_net_tcp.rst). */
export function parseListeners(table: string): readonly number[] {
  const lines = table.matchAll(/^ *\d+: +[0-9A-F]+:([0-9A-F]{4}) +[0-9A-F]+:[0-9A-F]{4} +0A /gm);
  return [...lines].map(([, port = ""]) => Number.parseInt(port, 16));
}

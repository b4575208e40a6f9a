import { parseTcpSockets, type SocketTables, type TcpSocket } from "../proc/net.ts";

/**
 * Counts the connections that the proxy has accepted on these ports, idle ones too, from /proc/net/tcp and tcp6.
 * Returns undefined if nobody listens on any of these ports.
 *
 * Connections that iptables redirects (REDIRECT) have the proxy's own port. Under TPROXY they keep the port that the
 * client asked for, which may be the app's. Of the connections on the app's ports only those count whose other end is
 * not in this pod: the proxy's own connections to the app show both ends. TPROXY needs a proxy that runs as root
 * (istio's injection template: runAsUser 0).
 */
export function countAccepted(
  tables: Pick<SocketTables, "tcp" | "tcp6">,
  ports: readonly number[],
): number | undefined {
  const { sockets, listening } = parseTcpSockets(tables);
  const own = listening.filter(({ port }) => ports.includes(port));
  if (own.length === 0) return undefined;
  const accepted = sockets.filter(({ port }) => ports.includes(port)).length;
  return own.some(({ uid }) => uid === 0) ? accepted + countTransparent(sockets, listening, ports) : accepted;
}

function countTransparent(
  sockets: readonly TcpSocket[],
  listening: readonly TcpSocket[],
  ports: readonly number[],
): number {
  const appPorts = new Set(listening.map(({ port }) => port).filter((port) => !ports.includes(port) && !isOwn(port)));
  const here = new Set(sockets.map(({ address, port }) => `${address} ${port}`));
  const isFromOutside = ({ remote }: TcpSocket) => !here.has(`${remote.address} ${remote.port}`);
  return sockets.filter((socket) => appPorts.has(socket.port) && isFromOutside(socket)).length;
}

/**
 * Reports whether Istio never redirects this port (istio tools/istio-iptables; architecture/ambient, "Ports used by
 * Istio").
 */
function isOwn(port: number): boolean {
  return port >= 15000 && port < 15100;
}

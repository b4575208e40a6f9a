import { parseTcpSockets, type SocketTables } from "../../process/core/net.ts";
import { countInFlight } from "./counts.ts";
import type { DrainScope } from "./scope.ts";
import type { Stats } from "./stats.ts";

/** How much work an Envoy has in flight. */
export interface InFlight {
  /** Requests, streams and WebSockets in flight. If `countedBy` is `clusters`, raw TCP connections are among them. */
  readonly requests: number;
  /** Connections on listeners that are not HTTP, or whose requests are not published, or that have unsent bytes. */
  readonly connections: number;
  /** False if some HTTP connections had to be counted instead of their requests: idle connections are among them. */
  readonly hasRequests: boolean;
  readonly countedBy: CountedBy;
}

/**
 * The source of a count: the first of these that an Envoy offers. Meshes thin their statistics out, and what clusters
 * tell is inbound:
 * - `clusters`: requests and TCP connections in flight to the app (/clusters of a mesh)
 * - `listeners`: requests on HTTP listeners, connections on the others (/stats)
 * - `connections`: the same, and idle connections of listeners whose requests are not published (/stats)
 * - `sockets`: connections that were accepted on its inbound ports, idle ones too (/proc/net/tcp)
 */
export type CountedBy = "clusters" | "listeners" | "connections" | "sockets";

/** What was read of an Envoy and its pod. A field is undefined if it could not be read or was not asked for. */
export interface Readings {
  /** The parsed answer to `statsPath` or `allStatsPath`. */
  readonly stats?: Stats | undefined;
  /** How much is in flight to the inbound clusters, from the answer to `clustersPath`. */
  readonly underWay?: number | undefined;
  /** The sockets of the pod's own network namespace. */
  readonly sockets?: Pick<SocketTables, "tcp" | "tcp6"> | undefined;
}

/**
 * Counts the work in flight by the best source that could be read (see `CountedBy`). Returns undefined if none tells.
 */
export function inFlightOf(
  { stats, underWay, sockets }: Readings,
  { leftOut, ports, otherPorts }: Omit<DrainScope, "path">,
): InFlight | undefined {
  if (underWay !== undefined) return { requests: underWay, connections: 0, hasRequests: true, countedBy: "clusters" };
  if (stats?.published.connections === true) return byListeners(stats, leftOut);
  const accepted = sockets && (countAccepted(sockets, ports) ?? countAccepted(sockets, otherPorts));
  if (accepted === undefined) return undefined;
  return { requests: 0, connections: accepted, hasRequests: accepted === 0, countedBy: "sockets" };
}

function byListeners(stats: Stats, leftOut: ReadonlySet<string>): InFlight {
  const { published } = stats;
  const counted = countInFlight(stats, leftOut);
  const isAll = published.requests && counted.hasRequests;
  const hasRequests = counted.hasRequests && (published.requests || counted.connections === 0);
  return { ...counted, hasRequests, countedBy: isAll ? "listeners" : "connections" };
}

/** What each source counts, in words for the log. */
export const countedByText: Readonly<Record<CountedBy, string>> = {
  clusters: "requests and TCP connections to each inbound cluster (/clusters)",
  listeners: "requests and connections of each listener (/stats)",
  connections: "requests and connections of each listener, idle ones too where it publishes no requests (/stats)",
  sockets:
    "established connections on its inbound ports, including idle ones (/proc/net/tcp): its answers do not show what is in flight",
};

/**
 * Counts the connections that the proxy has accepted on these ports, idle ones too, from /proc/net/tcp and tcp6.
 * Returns undefined if none of these ports has a listener. Those that TPROXY redirects keep the app's port.
 */
export function countAccepted(
  tables: Pick<SocketTables, "tcp" | "tcp6">,
  ports: readonly number[],
): number | undefined {
  const { sockets, listening } = parseTcpSockets(tables);
  if (!listening.some(({ port }) => ports.includes(port))) return undefined;
  return sockets.filter(({ port }) => ports.includes(port)).length;
}

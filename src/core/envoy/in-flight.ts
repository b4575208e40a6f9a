import type { SocketTables } from "../proc/net.ts";
import { countInFlight, isStatistics, usedListenerNames } from "./counts.ts";
import type { Inbound } from "./inbound.ts";
import { countAccepted } from "./sockets.ts";
import { portOf, type Stats } from "./stats-model.ts";
import { parseStats } from "./stats-query.ts";

/** How much work an Envoy has in flight. */
export interface InFlight {
  /** Requests, streams and WebSockets in flight. If `countedBy` is `clusters`, raw TCP connections are among them. */
  readonly requests: number;
  /** Connections on listeners that are not HTTP, or whose requests are not published. */
  readonly connections: number;
  /** False if some HTTP connections had to be counted instead of their requests: idle connections are among them. */
  readonly hasRequests: boolean;
  readonly countedBy: CountedBy;
}

/**
 * The source of a count. Meshes thin statistics out, so it is the first of these that an Envoy offers:
 * - `listeners`: requests on HTTP listeners, connections on the others (/stats)
 * - `clusters`: requests and TCP connections in flight to the app (/clusters)
 * - `connections`: connections of listeners, idle ones too (/stats)
 * - `sockets`: connections that were accepted on its inbound ports, idle ones too (/proc/net/tcp)
 */
export type CountedBy = "listeners" | "clusters" | "connections" | "sockets";

/** What was read of an Envoy and its pod. A field is undefined if it could not be read or was not asked for. */
export interface Readings {
  /** The parsed answer to `statsPath`. */
  readonly stats?: Stats | undefined;
  /** How much is in flight to the inbound clusters, from the answer to `clustersPath`. */
  readonly underWay?: number | undefined;
  /** The sockets of the pod's own network namespace. */
  readonly sockets?: Pick<SocketTables, "tcp" | "tcp6"> | undefined;
}

/** Which part of an Envoy's work is counted. Listeners are given by their names in statistics. */
export interface CountScope {
  /** Undefined if work of all directions is counted. */
  readonly inbound: Inbound | undefined;
  /** The listeners whose work is not counted. */
  readonly leftOut: ReadonlySet<string>;
  /** The listeners whose configuration was read: whether they are left out is certain. */
  readonly known: ReadonlySet<string>;
  /** The ports of inbound listeners. */
  readonly ports: readonly number[];
}

/**
 * Counts the work in flight by the best source that could be read (see `CountedBy`). Returns undefined if none tells.
 */
export function inFlightOf({ stats, underWay, sockets }: Readings, side: CountScope): InFlight | undefined {
  const counted = stats === undefined ? undefined : byListeners(stats, side);
  if (isBestCount(counted)) return counted;
  if (underWay !== undefined) return { requests: underWay, connections: 0, hasRequests: true, countedBy: "clusters" };
  if (counted !== undefined) return counted;
  const accepted = sockets === undefined ? undefined : countAccepted(sockets, side.ports);
  if (accepted === undefined) return undefined;
  return { requests: 0, connections: accepted, hasRequests: accepted === 0, countedBy: "sockets" };
}

/** Reports whether `inFlightOf` has counted by its best source, `listeners`, so that no other source need be read. */
export function isBestCount(inFlight: InFlight | undefined): inFlight is InFlight {
  return inFlight?.countedBy === "listeners";
}

/** What each source counts, in words for the log. */
export const countedByText: Readonly<Record<CountedBy, string>> = {
  listeners: "requests and connections of each listener (/stats)",
  clusters: "requests and TCP connections to each inbound cluster (/clusters): its statistics are thinned out",
  connections: "connections of each listener, idle ones too (/stats): it publishes no requests",
  sockets: "established connections on its inbound ports, idle ones too (/proc/net/tcp): its answers do not tell",
};

/** Parses the text of an answer to `statsPath`. Returns undefined if it is not statistics, such as "Forbidden". */
export function readStats(text: string): Stats | undefined {
  const stats = parseStats(text);
  return isStatistics(text, stats) ? stats : undefined;
}

function byListeners(stats: Stats, side: CountScope): InFlight | undefined {
  const { published } = stats;
  if (!published.connections) return undefined;
  const counted = countInFlight(stats, leftOutOf(stats, side));
  const isAll = published.requests && counted.hasRequests;
  const hasRequests = counted.hasRequests && (published.requests || counted.connections === 0);
  return { ...counted, hasRequests, countedBy: isAll ? "listeners" : "connections" };
}

/**
 * Returns `leftOut`, with the listeners whose direction is not known added if all inbound traffic comes in at
 * `inbound.ports` and some has come in there.
 */
function leftOutOf(stats: Stats, { inbound, leftOut, known }: CountScope): ReadonlySet<string> {
  if (inbound?.isAllOfIt !== true) return leftOut;
  const names = usedListenerNames(stats);
  const isInbound = (name: string) => inbound.ports.includes(portOf(name) ?? 0);
  if (!names.some(isInbound)) return leftOut;
  return new Set([...leftOut, ...names.filter((name) => !isInbound(name) && !known.has(name))]);
}

import type { SocketTables } from "../proc/net.ts";
import { countInFlight, isStatistics, usedListenerNames } from "./counts.ts";
import type { Inbound } from "./inbound.ts";
import { countAccepted } from "./sockets.ts";
import { portOf, type Stats } from "./stats-model.ts";
import { parseStats } from "./stats-query.ts";

/** The work that an Envoy has in flight. */
export interface InFlight {
  /** Requests, streams and WebSockets under way; by "clusters" also connections of raw TCP. */
  readonly requests: number;
  /** On listeners that are not HTTP, and where no requests are published: connections. */
  readonly connections: number;
  /** False where some HTTP connections had to be counted instead of their requests: idle ones are among them. */
  readonly hasRequests: boolean;
  readonly countedBy: CountedBy;
}

/**
 * What was counted. Meshes thin statistics out, so the first of these that an Envoy shows:
 * - `listeners`: requests on HTTP listeners, connections on the others (/stats)
 * - `clusters`: what is under way to the app (/clusters)
 * - `connections`: connections of listeners, idle ones too (/stats)
 * - `sockets`: connections that were accepted on its inbound ports, idle ones too (/proc/net/tcp)
 */
export type CountedBy = "listeners" | "clusters" | "connections" | "sockets";

/** What was read of an Envoy and its pod; undefined: it could not be read, or nothing asked for it. */
export interface Readings {
  /** Of the answer to `statsPath`. */
  readonly stats?: Stats | undefined;
  /** What is under way to the inbound clusters, of the answer to `clustersPath`. */
  readonly underWay?: number | undefined;
  /** Of the pod's own network namespace. */
  readonly sockets?: Pick<SocketTables, "tcp" | "tcp6"> | undefined;
}

/** Which of an Envoy's work is waited for. */
export interface CountScope {
  readonly inbound: Inbound | undefined;
  /** The listeners whose work is not, by their names in statistics. */
  readonly leftOut: ReadonlySet<string>;
  /** The listeners that are known to be left out or not, by the same names. */
  readonly known: ReadonlySet<string>;
  /** The ports of inbound listeners. */
  readonly ports: readonly number[];
}

/**
 * Counts the work in flight by the best of what could be read: requests under way, statistics, sockets. Undefined where nothing
 * tells.
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

/** Whether `inFlightOf` has counted what is counted best, so that nothing else need be read. */
export function isBestCount(inFlight: InFlight | undefined): inFlight is InFlight {
  return inFlight?.countedBy === "listeners";
}

/** In words, for people. */
export const countedByText: Readonly<Record<CountedBy, string>> = {
  listeners: "requests and connections of each listener (/stats)",
  clusters: "requests and TCP connections to each inbound cluster (/clusters): its statistics are thinned out",
  connections: "connections of each listener, idle ones too (/stats): it publishes no requests",
  sockets: "established connections on its inbound ports, idle ones too (/proc/net/tcp): its answers do not tell",
};

/** Parses statistics; undefined where the answer is something else. */
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

/** With those whose direction could not be learned, where all that comes in comes in elsewhere, and has. */
function leftOutOf(stats: Stats, { inbound, leftOut, known }: CountScope): ReadonlySet<string> {
  if (inbound?.isAllOfIt !== true) return leftOut;
  const names = usedListenerNames(stats);
  const isInbound = (name: string) => inbound.ports.includes(portOf(name) ?? 0);
  if (!names.some(isInbound)) return leftOut;
  return new Set([...leftOut, ...names.filter((name) => !isInbound(name) && !known.has(name))]);
}

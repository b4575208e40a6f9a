import { isOwnPort, type ListenerStats, type ManagerStats, portOf, type Stats } from "./stats.ts";

/**
 * Counts what a drain waits for: requests on HTTP listeners, connections on the others, and one connection of each HTTP
 * connection manager that has unsent bytes. Does not count the admin interface (and so ebb's own connection),
 * statistics and readiness endpoints, internal listeners, and the listeners in `outbound`, which are names in
 * statistics.
 */
export function countInFlight(stats: Stats, outbound: ReadonlySet<string> = new Set()): ListenerCount {
  const isLeftOut = (listener: string) => outbound.has(listener) || isOwnListener(listener, stats.listeners);
  let requests = 0;
  let idle = 0;
  let hasRequests = true;
  for (const [manager, atMost] of managersOf(stats, isLeftOut, outbound.size > 0)) {
    // then its requests are outbound; another number bounds no requests, because an HTTP/2 connection has many
    if (atMost === 0) continue;
    const connections = Math.min(manager.connections ?? 0, atMost);
    requests += manager.requests ?? 0;
    // if requests are not published, the connections themselves are left to be counted below
    if (manager.requests === undefined && connections > 0) hasRequests = false;
    else idle += (manager.unsent ?? 0) > 0 ? connections - 1 : connections;
  }
  let connections = 0;
  for (const [name, { active = 0 }] of stats.listeners) if (!isLeftOut(name)) connections += active;
  return { requests, connections: Math.max(0, connections - idle), hasRequests };
}

/** What a drain waits for, as counted by `countInFlight`. */
export interface ListenerCount {
  /**
   * Requests, streams and WebSockets in flight on HTTP listeners. Idle keep-alive connections, which Envoy never closes
   * (envoy#42305), do not count.
   */
  readonly requests: number;
  /**
   * Connections on other listeners, and on HTTP listeners whose requests Envoy does not publish; one for the HTTP
   * connections of a manager whose clients have yet to take bytes of an answer.
   */
  readonly connections: number;
  /** False if some HTTP connections had to be counted instead of their requests. */
  readonly hasRequests: boolean;
}

/** Returns how many connections are open on each listener for which that is published, by its name in statistics. */
export function countConnections(stats: Stats): ReadonlyMap<string, number> {
  const connections = new Map<string, number>();
  for (const [name, { active }] of stats.listeners) if (active !== undefined) connections.set(name, active);
  return connections;
}

/**
 * Returns the HTTP connection managers to count, each with the most connections that count: as many as are open on its
 * counted listeners, because a listener that is left out may share a manager's stat_prefix. The number is Infinity if
 * no listener is known to be the manager's, which shows once it has answered a request. `isInboundOnly` leaves out
 * managers named `outbound_...`, and the unknown ones if no counted listener has a connection.
 */
export function managersOf(
  { listeners, managers }: Stats,
  isLeftOut: (listener: string) => boolean,
  isInboundOnly: boolean,
): ReadonlyMap<ManagerStats, number> {
  const counted = new Map<ManagerStats, number>();
  const leftOut = new Set<ManagerStats>();
  let open = 0;
  for (const [name, listener] of listeners) {
    if (listener.active === undefined) continue;
    const isOut = isLeftOut(name);
    if (!isOut) open += listener.active;
    for (const manager of new Set(listener.managers)) {
      if (isOut) leftOut.add(manager);
      else counted.set(manager, (counted.get(manager) ?? 0) + listener.active);
    }
  }
  const found = new Map<ManagerStats, number>();
  for (const [name, manager] of managers) {
    if (manager.connections === undefined || ownManagers.has(name)) continue;
    // Istio's names (pilot, BuildStatPrefix); its statistics do not say which manager serves which listener
    if (isInboundOnly && name.startsWith("outbound_")) continue;
    const isOut = leftOut.has(manager) || (isInboundOnly && open === 0);
    const atMost = counted.get(manager) ?? (isOut ? undefined : Number.POSITIVE_INFINITY);
    if (atMost !== undefined) found.set(manager, atMost);
  }
  return found;
}

/**
 * The HTTP connection managers, by stat_prefix, of admin, statistics and readiness endpoints: Envoy's own, Contour's,
 * Istio's (15021), Envoy Gateway's.
 */
export const ownManagers: ReadonlySet<string> = new Set([
  "admin",
  "envoy-admin",
  "stats",
  "stats-health",
  "health",
  "agent",
  "eg-ready-http",
  "eg-stats-http",
]);

/**
 * Reports whether a listener, by its name in statistics, serves only Envoy or its agent (admin, internal, probes),
 * never the app.
 */
export function isOwnListener(name: string, listeners: ReadonlyMap<string, ListenerStats>): boolean {
  if (name === "admin" || name.startsWith("envoy_internal_") || isOwnPort(portOf(name))) return true;
  const managers = listeners.get(name)?.managers ?? [];
  return managers.length > 0 && managers.every(({ name }) => ownManagers.has(name));
}

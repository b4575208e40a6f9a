import { isOwnPort, type ListenerStats, listenerPort, type ManagerStats, type Stats } from "./stats.ts";

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
  for (const [manager, { atMost, elsewhere }] of managersOf(stats, isLeftOut, outbound)) {
    // 0: all its connections are outbound; else a bound on connections, not on requests (HTTP/2)
    if (atMost === 0) continue;
    const open = manager.connections ?? 0;
    const unsent = (manager.unsent ?? 0) > 0 ? 1 : 0;
    requests += manager.requests ?? 0;
    // if requests are not published, the connections themselves are left to be counted below
    if (manager.requests === undefined && open > 0) hasRequests = false;
    else idle += Math.max(0, Math.min(open - elsewhere, atMost) - unsent);
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

/** Where the connections of an HTTP connection manager may be, whose stat_prefix several listeners may share. */
interface Share {
  /** As many as are open on its counted listeners. Infinity if no listener is known to be the manager's. */
  readonly atMost: number;
  /** As many as are open on its other listeners, or on any outbound one if none is known to be the manager's. */
  readonly elsewhere: number;
}

/**
 * Returns the HTTP connection managers to count. If there are outbound listeners, leaves out managers named
 * `outbound_...`, and the unknown ones if no counted listener has a connection.
 */
function managersOf(
  { listeners, managers }: Stats,
  isLeftOut: (listener: string) => boolean,
  outbound: ReadonlySet<string>,
): ReadonlyMap<ManagerStats, Share> {
  const counted = new Map<ManagerStats, number>();
  const leftOut = new Map<ManagerStats, number>();
  let open = 0;
  let goingOut = 0;
  for (const [name, listener] of listeners) {
    if (listener.active === undefined) continue;
    const isOut = isLeftOut(name);
    if (!isOut) open += listener.active;
    if (outbound.has(name)) goingOut += listener.active;
    const sums = isOut ? leftOut : counted;
    for (const manager of new Set(listener.managers)) sums.set(manager, (sums.get(manager) ?? 0) + listener.active);
  }
  const isInboundOnly = outbound.size > 0;
  const found = new Map<ManagerStats, Share>();
  for (const [name, manager] of managers) {
    if (manager.connections === undefined || ownManagers.has(name)) continue;
    // Istio's names (pilot, BuildStatPrefix); its statistics do not say which manager serves which listener
    if (isInboundOnly && name.startsWith("outbound_")) continue;
    const [atMost, elsewhere] = [counted.get(manager), leftOut.get(manager)];
    if (atMost !== undefined) found.set(manager, { atMost, elsewhere: elsewhere ?? 0 });
    else if (elsewhere === undefined && !(isInboundOnly && open === 0))
      found.set(manager, { atMost: Number.POSITIVE_INFINITY, elsewhere: goingOut });
  }
  return found;
}

/**
 * Reports whether statistics that were never written would tell more: what an Envoy has in flight from before its hot
 * restart, that a manager has no request, or which listener is its. Those that were written tell the last two of a
 * listener on which the manager has answered.
 */
export function needsAll({ isRestarted, listeners, managers }: Stats): boolean {
  if (isRestarted) return true;
  const known = new Map<ManagerStats, number>();
  for (const { active = 0, managers } of listeners.values())
    for (const manager of managers) known.set(manager, (known.get(manager) ?? 0) + active);
  return managers.values().some((manager) => {
    const { name, connections = 0 } = manager;
    return !ownManagers.has(name) && connections > (known.get(manager) ?? 0);
  });
}

/**
 * The HTTP connection managers, by stat_prefix, of admin, statistics and readiness endpoints: Envoy's own, Contour's,
 * Istio's (15021), Envoy Gateway's.
 */
const ownManagers: ReadonlySet<string> = new Set([
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
function isOwnListener(name: string, listeners: ReadonlyMap<string, ListenerStats>): boolean {
  if (name === "admin" || name.startsWith("envoy_internal_") || isOwnPort(listenerPort(name))) return true;
  const managers = listeners.get(name)?.managers ?? [];
  return managers.length > 0 && managers.every(({ name }) => ownManagers.has(name));
}
